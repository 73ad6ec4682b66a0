#include "runnel/model/retry.h"

#include <gtest/gtest.h>

namespace runnel::model {
namespace {

using std::chrono::milliseconds;

CallFailed failed(std::optional<milliseconds> retry_after = std::nullopt) {
  CallFailed out;
  out.failure = Failure::overloaded;
  out.retryable = true;
  out.retry_after = retry_after;
  return out;
}

TEST(Retry, USE_1_WaitsDoubleUpToALimitAndAreShortenedByChance) {
  RetryPolicy policy;
  EXPECT_EQ(wait_before_retry(policy, 0, failed(), 0), milliseconds{500});
  EXPECT_EQ(wait_before_retry(policy, 1, failed(), 0), milliseconds{1000});
  EXPECT_EQ(wait_before_retry(policy, 1, failed(), 0.5), milliseconds{875});

  policy.retries = 100;
  EXPECT_EQ(wait_before_retry(policy, 50, failed(), 0), milliseconds{8000});
  EXPECT_GE(wait_before_retry(policy, 50, failed(), 0.999), milliseconds{6000});
}

TEST(Retry, USE_1_TwoRetriesAndNoMore) {
  EXPECT_TRUE(wait_before_retry({}, 1, failed(), 0));
  EXPECT_FALSE(wait_before_retry({}, 2, failed(), 0));
}

TEST(Retry, USE_1_ProvidersWishIsRespectedUpToALimit) {
  EXPECT_EQ(wait_before_retry({}, 0, failed(milliseconds{60'000}), 0.5), milliseconds{60'000});
  EXPECT_FALSE(wait_before_retry({}, 0, failed(milliseconds{60'001}), 0));
  EXPECT_EQ(wait_before_retry({}, 0, failed(milliseconds{0}), 0), milliseconds{500});
}

TEST(Retry, USE_1_FinalFailureIsNotRetried) {
  auto final_failure = failed(milliseconds{1});
  final_failure.retryable = false;
  EXPECT_FALSE(wait_before_retry({}, 0, final_failure, 0));
}

}  // namespace
}  // namespace runnel::model
