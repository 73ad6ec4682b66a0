#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>

#include "runnel/base/cancel.h"
#include "runnel/base/sleep.h"
#include "runnel/store/store.h"

namespace runnel::runtime {

// Asks the store until it can serve, with growing pauses: a run waits for its store, it does not fail (DB-3).
// Only a shutdown ends the asking, with `unavailable`. The question must be one that may be repeated.
template <class T>
store::Async<T> ask_until_served(std::function<store::Async<T>()> ask, std::shared_ptr<base::Cancel> cancel) {
  constexpr std::chrono::milliseconds kFirst{50};
  constexpr std::chrono::milliseconds kLongest{1000};
  auto const nobody =
      std::make_shared<base::Cancel>();  // A user's cancel is heard once the store has spoken.
  for (auto pause = kFirst;; pause = std::min(pause * 2, kLongest)) {
    auto answer = co_await ask();
    if (answer || answer.error().code != Errc::unavailable) co_return answer;
    if (cancel->reason() == base::CancelReason::shutdown) co_return answer;
    co_await base::sleep_for(pause, nobody);
  }
}

}  // namespace runnel::runtime
