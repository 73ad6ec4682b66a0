#include "runnel/http/routes/resume_point.h"

#include <gtest/gtest.h>

namespace runnel::http {
namespace {

// Two epochs: 1000 wrote facts 1 to 4, 2000 continues at 5.
store::RunRow run_at(store::RunStatus status, std::uint64_t last_n) {
  store::RunRow run;
  run.status = status;
  run.epoch = 2000;
  run.last_n = last_n;
  run.epochs = {{1000, 1}, {2000, 5}};
  return run;
}

Position after(store::RunRow const& run, std::string_view id) {
  auto const point = resume_point(run, id);
  auto const* place = std::get_if<ResumeAfter>(&point);
  return place != nullptr ? place->position : Position{-1, 0};
}

template <class Kind>
bool is(store::RunRow const& run, std::optional<std::string_view> id) {
  return std::holds_alternative<Kind>(resume_point(run, id));
}

TEST(ResumePoint, SSE_3_WithoutAnIdFromTheStart) {
  auto const point = resume_point(run_at(store::RunStatus::running, 9), std::nullopt);
  EXPECT_EQ(std::get<ResumeAfter>(point).position, Position{});
}

TEST(ResumePoint, SSE_3_RightAfterTheId) {
  auto const run = run_at(store::RunStatus::running, 9);
  EXPECT_EQ(after(run, "1000-3"), (Position{1000, 3}));
  EXPECT_EQ(after(run, "2000-7"), (Position{2000, 7}));
}

TEST(ResumePoint, SSE_4_BeyondASealedEpochAtItsEnd) {
  EXPECT_EQ(after(run_at(store::RunStatus::running, 9), "1000-8"), (Position{1000, 4}));
  EXPECT_EQ(after(run_at(store::RunStatus::completed, 9), "1000-80"), (Position{1000, 4}));
}

TEST(ResumePoint, SSE_4_AheadOfARunningEpochIsKept) {
  EXPECT_EQ(after(run_at(store::RunStatus::running, 9), "2000-12"), (Position{2000, 12}));
}

TEST(ResumePoint, SSE_3_AfterTheTerminalThereIsNothing) {
  EXPECT_TRUE(is<AlreadyComplete>(run_at(store::RunStatus::completed, 9), "2000-9"));
  EXPECT_FALSE(is<AlreadyComplete>(run_at(store::RunStatus::running, 9), "2000-9"));
}

TEST(ResumePoint, SSE_4_IdsThatTheRunCannotHaveGiven) {
  for (auto const* id :
       {"", "x", "1000", "1000-", "-1", "1000-1-1", "1000-01", "1000-1 ", "+1000-1", "1000-0", "0-0",
        "3000-1", "2000-4", "99999999999999999999-1", "1000-99999999999999999999"}) {
    EXPECT_TRUE(is<BadEventId>(run_at(store::RunStatus::running, 9), id)) << id;
  }
  EXPECT_TRUE(is<BadEventId>(run_at(store::RunStatus::failed, 9), "2000-10"));
}

TEST(ResumePoint, SSE_4_ExpiredLogIsSaidToBe) {
  auto run = run_at(store::RunStatus::completed, 9);
  run.log_expired = true;
  EXPECT_TRUE(is<EventsExpired>(run, std::nullopt));
  EXPECT_TRUE(is<EventsExpired>(run, "1000-2"));
  EXPECT_TRUE(is<AlreadyComplete>(run, "2000-9"));
  EXPECT_TRUE(is<BadEventId>(run, "nonsense"));
}

}  // namespace
}  // namespace runnel::http
