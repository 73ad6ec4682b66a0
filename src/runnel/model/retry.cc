#include "runnel/model/retry.h"

#include <algorithm>
#include <cstdint>

namespace runnel::model {

using std::chrono::milliseconds;

std::optional<milliseconds> wait_before_retry(RetryPolicy const& policy, int retries_made,
                                              CallFailed const& failed, double random) {
  if (!failed.retryable || retries_made >= policy.retries) return std::nullopt;
  if (failed.retry_after && *failed.retry_after > milliseconds{0}) {
    if (*failed.retry_after > policy.longest_wish) return std::nullopt;
    return *failed.retry_after;
  }
  auto wait = policy.first_wait;
  for (int doubled = 0; doubled < retries_made && wait < policy.longest_wait; ++doubled)
    wait *= 2;
  wait = std::min(wait, policy.longest_wait);
  auto const jitter = static_cast<double>(wait.count()) * 0.25 * random;
  return wait - milliseconds{static_cast<std::int64_t>(jitter)};
}

}  // namespace runnel::model
