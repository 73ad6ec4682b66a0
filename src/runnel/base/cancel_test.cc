#include "runnel/base/cancel.h"

#include <gtest/gtest.h>

#include <optional>

namespace runnel::base {
namespace {

TEST(Cancel, RequestWakesEveryWaitOnce) {
  Cancel cancel;
  int first = 0;
  int second = 0;
  Cancel::Registration const a{cancel, [&first] { ++first; }};
  Cancel::Registration const b{cancel, [&second] { ++second; }};

  cancel.request(CancelReason::user);
  cancel.request(CancelReason::shutdown);

  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST(Cancel, FirstReasonStands) {
  Cancel cancel;
  EXPECT_FALSE(cancel.requested());
  EXPECT_EQ(cancel.reason(), std::nullopt);

  cancel.request(CancelReason::replaced);
  cancel.request(CancelReason::replaced);

  EXPECT_TRUE(cancel.requested());
  EXPECT_EQ(cancel.reason(), CancelReason::replaced);
}

TEST(Cancel, WaitThatIsOverIsNotWoken) {
  Cancel cancel;
  int woken = 0;
  {
    Cancel::Registration const over{cancel, [&woken] { ++woken; }};
  }

  cancel.request(CancelReason::user);

  EXPECT_EQ(woken, 0);
}

TEST(Cancel, WaitMayEndWhileItIsWoken) {
  Cancel cancel;
  std::optional<Cancel::Registration> wait;
  wait.emplace(cancel, [&wait] { wait.reset(); });

  cancel.request(CancelReason::user);

  EXPECT_FALSE(wait.has_value());
}

TEST(Cancel, RegisteringAfterTheRequestIsHarmless) {
  Cancel cancel;
  cancel.request(CancelReason::user);
  int woken = 0;

  {
    Cancel::Registration const late{cancel, [&woken] { ++woken; }};
  }
  cancel.request(CancelReason::user);

  EXPECT_EQ(woken, 0);
}

TEST(Cancel, WaitThatBeganAfterTheRequestAndIsOverIsNotWokenByAShutdown) {
  Cancel cancel;
  cancel.request(CancelReason::user);
  int woken = 0;
  {
    Cancel::Registration const over{cancel, [&woken] { ++woken; }};
  }

  cancel.request(CancelReason::shutdown);

  EXPECT_EQ(woken, 0);
}

TEST(Cancel, WaitThatBeganAfterTheRequestIsWokenByAShutdown) {
  Cancel cancel;
  cancel.request(CancelReason::user);
  int woken = 0;
  Cancel::Registration const late{cancel, [&woken] { ++woken; }};

  cancel.request(CancelReason::shutdown);
  cancel.request(CancelReason::shutdown);

  EXPECT_EQ(woken, 1);
}

TEST(Cancel, WaitMayEndAnotherWhileItIsWoken) {
  Cancel cancel;
  int woken = 0;
  std::optional<Cancel::Registration> second;
  Cancel::Registration const first{cancel, [&second] { second.reset(); }};
  second.emplace(cancel, [&woken] { ++woken; });

  cancel.request(CancelReason::user);

  EXPECT_EQ(woken, 0);
}

}  // namespace
}  // namespace runnel::base
