#include "runnel/http/user_limits.h"

#include <gtest/gtest.h>

#include <vector>

namespace runnel::http {
namespace {

using namespace std::chrono_literals;

UserLimits::Time const kStart{1h};
UserId const kAda{"ada"};
UserId const kBob{"bob"};

TEST(UserLimits, HTTP_6_RequestsAboveTheRateWaitTheirTime) {
  UserLimits limits{{2, 3, 1}};

  for (int i = 0; i < 3; ++i)
    EXPECT_FALSE(limits.count_request(kAda, kStart)) << i;
  EXPECT_EQ(limits.count_request(kAda, kStart), 1s);
  EXPECT_FALSE(limits.count_request(kBob, kStart));

  EXPECT_FALSE(limits.count_request(kAda, kStart + 500ms));
  EXPECT_TRUE(limits.count_request(kAda, kStart + 500ms));
  EXPECT_FALSE(limits.count_request(kAda, kStart + 1h));
}

TEST(UserLimits, HTTP_6_RetryAfterIsEnough) {
  UserLimits limits{{1, 1, 1}};
  ASSERT_FALSE(limits.count_request(kAda, kStart));

  auto const wait = limits.count_request(kAda, kStart + 1ms);

  ASSERT_TRUE(wait);
  EXPECT_FALSE(limits.count_request(kAda, kStart + 1ms + *wait));
}

TEST(UserLimits, HTTP_6_DefaultsLeaveRoomForTenTasksPolledTwiceASecond) {
  UserLimits limits{{}};

  for (int tick = 0; tick < 1000; ++tick) {
    for (int task = 0; task < 10; ++task)
      ASSERT_FALSE(limits.count_request(kAda, kStart + tick * 500ms)) << tick;
  }
}

TEST(UserLimits, TimeThatGoesBackwardsGivesNothing) {
  UserLimits limits{{1000, 1, 1}};
  ASSERT_FALSE(limits.count_request(kAda, kStart + 1s));

  EXPECT_TRUE(limits.count_request(kAda, kStart));
}

TEST(UserLimits, HTTP_6_StreamsAreCountedWhileTheyAreOpen) {
  UserLimits limits{{1, 1, 2}};
  auto first = limits.open_stream(kAda, kStart);
  {
    auto const second = limits.open_stream(kAda, kStart);
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(limits.open_stream(kAda, kStart));
    EXPECT_TRUE(limits.open_stream(kBob, kStart));
  }
  auto moved = std::move(first);
  EXPECT_TRUE(limits.open_stream(kAda, kStart));
}

TEST(UserLimits, QuietUsersAreForgottenButNotTheirStreams) {
  UserLimits limits{{10, 10, 10}};
  auto const held = limits.open_stream(kAda, kStart);

  for (int i = 0; i < 100'000; ++i)
    limits.count_request(UserId{"user-" + std::to_string(i)}, kStart + i * 1ms);

  EXPECT_LT(limits.users(), 5000u);
  std::vector<UserLimits::StreamSlot> more;
  for (int i = 0; i < 9; ++i)
    more.push_back(std::move(limits.open_stream(kAda, kStart + 1h).value()));
  EXPECT_FALSE(limits.open_stream(kAda, kStart + 1h));
}

}  // namespace
}  // namespace runnel::http
