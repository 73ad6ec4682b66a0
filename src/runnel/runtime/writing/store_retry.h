#pragma once

#include <functional>
#include <memory>

#include "runnel/base/backoff.h"
#include "runnel/base/cancel.h"
#include "runnel/base/sleep.h"
#include "runnel/store/store.h"

namespace runnel::runtime {

// Asks the store until it answers, with growing pauses: a run waits for its store and does not fail (DB-3).
// Only a shutdown ends the retries, with `unavailable`. The request must be one that may be repeated.
template <class T>
store::Async<T> ask_until_served(std::function<store::Async<T>()> ask, std::shared_ptr<base::Cancel> cancel) {
  // A user's cancel does not end the pause; it takes effect after the store has answered.
  auto const nobody = std::make_shared<base::Cancel>();
  for (base::Backoff backoff;;) {
    auto answer = co_await ask();
    if (answer || answer.error().code != Errc::unavailable) co_return answer;
    if (cancel->reason() == base::CancelReason::shutdown) co_return answer;
    co_await base::sleep_for(backoff.next(), nobody);
  }
}

}  // namespace runnel::runtime
