#pragma once

#include <chrono>
#include <optional>

#include "runnel/model/provider.h"

namespace runnel::model {

struct RetryPolicy {
  int retries = 2;
  std::chrono::milliseconds first_wait{500};  // Doubled by each further retry.
  std::chrono::milliseconds longest_wait{8'000};
  std::chrono::milliseconds longest_wish{60'000};  // A provider that asks for more is not waited for.
};

// How long to wait before the same call is made again; none: not again. `retries_made` counts those of this
// call so far, `random` is in [0, 1) and shortens the wait by up to a quarter, so that callers that failed
// together do not come back together. A call that has shown a piece says itself that it is not retryable.
std::optional<std::chrono::milliseconds> wait_before_retry(RetryPolicy const& policy, int retries_made,
                                                           CallFailed const& failed, double random);

}  // namespace runnel::model
