#pragma once

#include <chrono>
#include <optional>

#include "runnel/model/provider.h"

namespace runnel::model {

struct RetryPolicy {
  int retries = 2;
  std::chrono::milliseconds first_wait{500};  // Doubled for each further retry.
  std::chrono::milliseconds longest_wait{8'000};
  std::chrono::milliseconds longest_wish{60'000};  // If a provider asks for a longer wait, there is no retry.
};

// How long to wait before the same call is made again. Empty if it must not be made again. `retries_made`
// counts the retries of this call so far. `random` is in [0, 1) and shortens the wait by up to a quarter, so
// that callers that failed together do not come back together. The caller must not retry a call of which a
// piece has been shown.
std::optional<std::chrono::milliseconds> wait_before_retry(RetryPolicy const& policy, int retries_made,
                                                           CallFailed const& failed, double random);

}  // namespace runnel::model
