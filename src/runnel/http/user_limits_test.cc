#include "runnel/http/user_limits.h"

#include <gtest/gtest.h>

#include <string>
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

TEST(UserLimits, HTTP_9_WhatCostsMoreThanIsLeftIsPaidForAfterwards) {
  UserLimits limits{{1, 10, 1}};

  EXPECT_FALSE(limits.count_request(kAda, kStart, 14));
  EXPECT_EQ(limits.count_request(kAda, kStart), 5s);
  EXPECT_FALSE(limits.count_request(kAda, kStart + 5s));

  EXPECT_FALSE(limits.count_request(kBob, kStart, 1'000'000));
  EXPECT_EQ(limits.count_request(kBob, kStart), 11s) << "a debt is never more than a burst";
}

using Budget = UserLimits::Budget;
using Grant = UserLimits::Grant;

TEST(UserLimits, HTTP_9_BytesInFlightAreBoundedByUser) {
  UserLimits limits{{1, 1, 1, 100, 1000, 50}};
  auto first = limits.hold_bytes(kAda, Budget::bodies, kStart);
  auto second = limits.hold_bytes(kAda, Budget::bodies, kStart);
  auto others = limits.hold_bytes(kBob, Budget::bodies, kStart);
  auto answer = limits.hold_bytes(kAda, Budget::answers, kStart);

  EXPECT_EQ(first.try_hold(60), Grant::granted);
  EXPECT_EQ(second.try_hold(41), Grant::user_full);
  EXPECT_EQ(second.try_hold(40), Grant::granted);
  EXPECT_EQ(first.try_hold(61), Grant::user_full);
  EXPECT_EQ(first.bytes(), 60U);
  EXPECT_EQ(others.try_hold(100), Grant::granted);
  EXPECT_EQ(answer.try_hold(50), Grant::granted);

  EXPECT_EQ(first.try_hold(10), Grant::granted) << "less is always granted";
  EXPECT_EQ(second.try_hold(90), Grant::granted);
}

TEST(UserLimits, HTTP_9_BodiesInFlightAreBoundedForAll) {
  UserLimits limits{{1, 1, 1, 200'000, 300'000, 50}};
  auto first = limits.hold_bytes(kAda, Budget::bodies, kStart);
  ASSERT_EQ(first.try_hold(200'000), Grant::granted);
  {
    auto second = limits.hold_bytes(kBob, Budget::bodies, kStart);
    EXPECT_EQ(second.try_hold(100'001), Grant::server_full);
    EXPECT_EQ(second.try_hold(100'000), Grant::granted);
    auto third = limits.hold_bytes(UserId{"cy"}, Budget::bodies, kStart);
    EXPECT_EQ(third.try_hold(65'537), Grant::server_full);
    EXPECT_EQ(third.try_hold(65'536), Grant::granted) << "small bodies are always let in";
  }
  auto later = limits.hold_bytes(kBob, Budget::bodies, kStart);
  EXPECT_EQ(later.try_hold(100'000), Grant::granted) << "what was held is given back";
}

TEST(UserLimits, HTTP_9_ABudgetIsNeverTooSmallForOne) {
  UserLimits limits{{1, 1, 1, 10, 10, 10}};
  auto alone = limits.hold_bytes(kAda, Budget::bodies, kStart);

  EXPECT_EQ(alone.try_hold(1000), Grant::granted);
  EXPECT_EQ(alone.try_hold(2000), Grant::granted);
  auto second = limits.hold_bytes(kAda, Budget::bodies, kStart);
  EXPECT_EQ(second.try_hold(1), Grant::user_full);
}

TEST(UserLimits, HTTP_9_WhatIsThereIsCountedWhateverTheLimit) {
  UserLimits limits{{1, 1, 1, 10, 10, 10}};
  auto large = limits.hold_bytes(kAda, Budget::answers, kStart);
  auto other = limits.hold_bytes(kAda, Budget::answers, kStart);
  ASSERT_EQ(other.try_hold(5), Grant::granted);

  large.hold(100);

  EXPECT_EQ(other.try_hold(6), Grant::user_full);
  large.hold(4);
  EXPECT_EQ(other.try_hold(6), Grant::granted);
}

TEST(UserLimits, AUserForWhomBytesAreHeldIsNotForgotten) {
  UserLimits limits{{1000, 1000, 1, 10, 1000, 10}};
  auto hold = limits.hold_bytes(kAda, Budget::bodies, kStart);
  ASSERT_EQ(hold.try_hold(9), Grant::granted);
  for (int i = 0; i < 20'000; ++i)
    limits.count_request(UserId{"u" + std::to_string(i)}, kStart + 1h * i);

  auto second = limits.hold_bytes(kAda, Budget::bodies, kStart + 30'000h);

  EXPECT_EQ(second.try_hold(9), Grant::user_full);
}

}  // namespace
}  // namespace runnel::http
