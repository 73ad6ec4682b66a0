#include "runnel/store/testing/query_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <regex>

#include "runnel/modules/calendar/module.h"
#include "runnel/modules/calendar/repository.h"

namespace runnel::modules::calendar {
namespace {

using namespace store;

constexpr Span kWeek{1'777'593'600'000, 1'777'593'600'000 + 7 * kDayMs};

class CalendarPlan : public StoreContract {
 protected:
  [[nodiscard]] std::vector<Migration> module_migrations() const override { return define().migrations; }

  // Events of ann and of bob, every hour for two years around the week, some of them long and some repeating,
  // and invitations to bob's, some of them for ann.
  void fill() {
    sql("INSERT INTO calendar_events(id, owner_id, title, start_at, end_at, timezone, created_at, "
        "updated_at) "
        "WITH RECURSIVE n(i) AS (SELECT CAST(0 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < 17999) "
        "SELECT 'e' || i, CASE WHEN i % 9 = 0 THEN 'bob' ELSE 'ann' END, 'x', "
        "1746057600000 + i * 3600000, 1746057600000 + i * 3600000 + "
        "CASE WHEN i % 100 = 1 THEN 200000000 ELSE 3600000 END, 'UTC', 1, 1 FROM n");
    sql("INSERT INTO calendar_invites(id, event_id, owner_id, user_id, status, start_at, end_at, created_at, "
        "updated_at) SELECT 'i' || id, id, owner_id, CASE WHEN (start_at / 3600000) % 7 = 0 THEN 'ann' ELSE "
        "'cy' END, CASE WHEN (start_at / 3600000) % 5 = 0 THEN 'pending' ELSE 'accepted' END, "
        "start_at, end_at, 1, 1 "
        "FROM calendar_events WHERE owner_id = 'bob'");
    sql("UPDATE calendar_events SET rrule = 'FREQ=DAILY;COUNT=9', series_end_at = end_at + 777600000 "
        "WHERE start_at % 180000000 < 3600000");
    sql("ANALYZE");
  }
  // Invitations of ann to events of an hour, half of them pending: 7,995 in the year before the week, and
  // five in it.
  void fill_year_before_week_with_invitations() {
    sql("INSERT INTO calendar_events(id, owner_id, title, start_at, end_at, timezone, created_at, "
        "updated_at) "
        "WITH RECURSIVE n(i) AS (SELECT CAST(0 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < 7999) "
        "SELECT 'e' || i, 'bob', 'x', 1777593600000 + (i - 7995) * 3600000, "
        "1777593600000 + (i - 7994) * 3600000, 'UTC', 1, 1 FROM n");
    sql("INSERT INTO calendar_invites(id, event_id, owner_id, user_id, status, start_at, end_at, created_at, "
        "updated_at) SELECT 'i' || id, id, owner_id, 'ann', "
        "CASE WHEN (start_at / 3600000) % 2 = 0 THEN 'pending' ELSE 'accepted' END, start_at, end_at, 1, 1 "
        "FROM calendar_events");
    sql("ANALYZE");
  }
  // The largest number of rows that a step of the statement reads. SQLite does not say how many it has read,
  // so there it is the number in the range that the plan names, of which the parameters are the ends.
  std::int64_t most_rows_read(SqlStatement const& statement) {
    if (GetParam().name == sqlite_engine().name) {
      auto const plan = query_plan(GetParam(), store(), statement);
      std::string const range = "(user_id=? AND status=? AND start_at>? AND start_at<?)";
      bool const is_bounded = plan.find("idx_invites_user_status " + range) != std::string::npos &&
                              plan.find("idx_invites_user_long " + range) != std::string::npos;
      EXPECT_TRUE(is_bounded) << plan;
      return is_bounded ? 0 : 8000;
    }
    static std::deque<std::string> texts;
    SqlStatement analyze{texts.emplace_back("EXPLAIN (ANALYZE, TIMING OFF) " + std::string{statement.text}),
                         statement.parameters};
    auto const steps = run_async(store().read(std::move(analyze))).value();
    static std::regex const kRows{"actual rows=(\\d+)|Rows Removed by Filter: (\\d+)"};
    std::int64_t most = 0;
    for (std::size_t row = 0; row < steps.size(); ++row) {
      auto const step = steps.text(row, 0);
      std::smatch found;
      if (std::regex_search(step, found, kRows))
        most = std::max<std::int64_t>(most, std::stoll(found.str(1) + found.str(2)));
    }
    return most;
  }
  // The plan of the only statement that the call reads.
  template <class Call>
  std::string plan_of(Call call) {
    RecordingSql recorded{store()};
    Repository rows{recorded};
    run_async(call(rows)).value();
    EXPECT_EQ(recorded.was_read.size(), 1U);
    return query_plan(GetParam(), store(), recorded.was_read.back());
  }
};

using None = std::vector<std::string>;

TEST_P(CalendarPlan, TOOL_12_WeekIsFoundByIndexes) {
  fill();

  auto const plan = plan_of([](Repository& rows) {
    return rows.overlapping(kAnn, Window{kWeek, kWeek}, 201);
  });

  EXPECT_EQ(whole_tables(plan), None{}) << plan;
  for (auto const* const index : {"idx_events_owner_start", "idx_events_owner_long",
                                  "idx_invites_user_status", "idx_invites_user_long"})
    EXPECT_NE(plan.find(index), std::string::npos) << index << " in\n" << plan;
}

TEST_P(CalendarPlan, TOOL_12_WhatIsAcceptedIsFoundByIndexes) {
  fill();

  auto const plan = plan_of([](Repository& rows) {
    return rows.overlapping(kAnn, Window{kWeek, {}}, 50, {Pending::left_out, 0});
  });

  EXPECT_EQ(whole_tables(plan), None{}) << plan;
  for (auto const* const index : {"idx_invites_user_status", "idx_invites_user_long"})
    EXPECT_NE(plan.find(index), std::string::npos) << index << " in\n" << plan;
}

// An invitation that begins more than a day before the window is read only if it is long.
TEST_P(CalendarPlan, HTTP_9_InvitationsOutsideTheWindowAreNotRead) {
  fill_year_before_week_with_invitations();
  RecordingSql recorded{store()};
  Repository rows{recorded};

  auto const found = run_async(rows.overlapping(kAnn, Window{kWeek, kWeek}, 1001)).value();

  EXPECT_EQ(found.size(), 5U);
  EXPECT_LT(most_rows_read(recorded.was_read.back()), 50);
}

TEST_P(CalendarPlan, TOOL_12_EventsAndInvitationsAreFoundByIndexes) {
  fill();

  for (auto const& plan : {plan_of([](Repository& rows) { return rows.find(kAnn, "e9"); }),
                           plan_of([](Repository& rows) { return rows.guests("e9"); }),
                           plan_of([](Repository& rows) { return rows.invites(kAnn, "pending", 200); }),
                           plan_of([](Repository& rows) { return rows.find_invite(kAnn, "ie9"); })})
    EXPECT_EQ(whole_tables(plan), None{}) << plan;
}

TEST_P(CalendarPlan, TOOL_12_SeriesOfAWeekAreFoundByIndexes) {
  fill();

  Window const week{kWeek, kWeek};
  auto const own = plan_of([&](Repository& rows) { return rows.own_series(kAnn, week, {}, {}, 64); });
  auto const invited = plan_of([&](Repository& rows) { return rows.invited_series(kAnn, week, {}, {}, 64); });

  EXPECT_EQ(whole_tables(own + invited), None{}) << own << invited;
  EXPECT_NE(own.find("idx_events_owner_series"), std::string::npos) << own;
  EXPECT_NE(invited.find("idx_invites_user_series"), std::string::npos) << invited;
  auto const count = plan_of([](Repository& rows) { return rows.count_series(kAnn); });
  EXPECT_EQ(whole_tables(count), None{}) << count;
  EXPECT_NE(count.find("idx_events_owner_series"), std::string::npos) << count;
}

TEST_P(CalendarPlan, HTTP_9_InvitationsThatWaitAreCountedByAnIndex) {
  fill_year_before_week_with_invitations();

  auto const plan = plan_of([](Repository& rows) { return rows.full_guests({"eve", "nobody"}); });

  EXPECT_EQ(whole_tables(plan), None{}) << plan;
  EXPECT_NE(plan.find("idx_invites_user_status"), std::string::npos) << plan;
}

INSTANTIATE_TEST_SUITE_P(Engines, CalendarPlan, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::modules::calendar
