#include "runnel/store/testing/query_plan.h"

#include <gtest/gtest.h>

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
  // and invitations, few of them for ann.
  void fill() {
    sql("INSERT INTO calendar_events(id, owner_id, title, start_at, end_at, timezone, created_at, "
        "updated_at) "
        "WITH RECURSIVE n(i) AS (SELECT CAST(0 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < 17999) "
        "SELECT 'e' || i, CASE WHEN i % 9 = 0 THEN 'bob' ELSE 'ann' END, 'x', "
        "1746057600000 + i * 3600000, 1746057600000 + i * 3600000 + "
        "CASE WHEN i % 100 = 1 THEN 200000000 ELSE 3600000 END, 'UTC', 1, 1 FROM n");
    sql("INSERT INTO calendar_invites(id, event_id, owner_id, user_id, status, start_at, end_at, created_at, "
        "updated_at) SELECT 'i' || id, id, owner_id, CASE WHEN (start_at / 3600000) % 37 = 0 THEN 'ann' ELSE "
        "'cy' END, "
        "'accepted', "
        "start_at, end_at, 1, 1 "
        "FROM calendar_events WHERE owner_id = 'bob'");
    sql("UPDATE calendar_events SET rrule = 'FREQ=DAILY;COUNT=9', series_end_at = end_at + 777600000 "
        "WHERE start_at % 180000000 < 3600000");
    sql("ANALYZE");
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
  for (auto const* const index :
       {"idx_events_owner_start", "idx_events_owner_long", "idx_invites_user_start"})
    EXPECT_NE(plan.find(index), std::string::npos) << index << " in\n" << plan;
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

  auto const plan = plan_of([](Repository& rows) { return rows.series(kAnn, Window{kWeek, kWeek}); });

  EXPECT_EQ(whole_tables(plan), None{}) << plan;
  for (auto const* const index : {"idx_events_owner_series", "idx_invites_user_series"})
    EXPECT_NE(plan.find(index), std::string::npos) << index << " in\n" << plan;
  auto const count = plan_of([](Repository& rows) { return rows.count_series(kAnn); });
  EXPECT_EQ(whole_tables(count), None{}) << count;
  EXPECT_NE(count.find("idx_events_owner_series"), std::string::npos) << count;
}

INSTANTIATE_TEST_SUITE_P(Engines, CalendarPlan, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::modules::calendar
