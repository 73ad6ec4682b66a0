#include "runnel/runtime/lifecycle/sweep_clock.h"

#include <gtest/gtest.h>

namespace runnel::runtime {
namespace {

constexpr std::int64_t kWall = 1'700'000'000'000;
constexpr std::int64_t kHour = 3600'000;
constexpr std::int64_t kYear = 365 * 24 * kHour;

TEST(SweepClock, FollowsAWallClockThatGoesAsTheMonotonicOneDoes) {
  SweepClock clock;
  EXPECT_EQ(clock.now(kWall, 0), kWall);
  EXPECT_EQ(clock.now(kWall + kHour + 50'000, kHour), kWall + kHour + 50'000);
  EXPECT_FALSE(clock.is_ahead());
}

TEST(SweepClock, SSE_4_JumpAheadMakesNothingOldUntilItHasLastedADay) {
  SweepClock clock;
  clock.now(kWall, 0);

  EXPECT_EQ(clock.now(kWall + kYear, 60'000), kWall + 60'000);
  EXPECT_TRUE(clock.is_ahead());
  EXPECT_EQ(clock.now(kWall + kYear + 23 * kHour, 60'000 + 23 * kHour), kWall + 60'000 + 23 * kHour);
  EXPECT_EQ(clock.now(kWall + kYear + 24 * kHour, 60'000 + 24 * kHour), kWall + kYear + 24 * kHour);
  EXPECT_FALSE(clock.is_ahead());
}

TEST(SweepClock, JumpThatIsTakenBackIsForgotten) {
  SweepClock clock;
  clock.now(kWall, 0);
  clock.now(kWall + kYear, 60'000);

  EXPECT_EQ(clock.now(kWall + 120'000, 120'000), kWall + 120'000);
  EXPECT_FALSE(clock.is_ahead());
}

TEST(SweepClock, ClockThatIsSetBackIsBelieved) {
  SweepClock clock;
  clock.now(kWall, 0);
  EXPECT_EQ(clock.now(kWall - kYear, 60'000), kWall - kYear);
}

TEST(SweepClock, MonotonicClockGoesOn) {
  auto const before = milliseconds_since_boot();
  EXPECT_GT(before, 0);
  EXPECT_GE(milliseconds_since_boot(), before);
}

}  // namespace
}  // namespace runnel::runtime
