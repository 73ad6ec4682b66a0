#include <gtest/gtest.h>

#include "runnel/modules/calendar/module.h"
#include "runnel/modules/calendar/repository.h"
#include "runnel/store/sqlite/store.h"
#include "runnel/store/testing/sqlite_under_test.h"

namespace runnel::modules::calendar {
namespace {

using namespace store;

class CalendarSteps : public testing::Test {
 protected:
  // Opens the database with the first steps of the module, as an older version would.
  std::unique_ptr<Database> open(std::size_t steps) {
    SqliteOptions options;
    options.path = path();
    options.module_migrations = define().migrations;
    options.module_migrations.resize(steps);
    return open_sqlite(std::move(options)).value();
  }
  TextRows rows(std::string const& statement) { return sqlite_rows(path(), statement).value(); }

 private:
  [[nodiscard]] std::string path() const { return folder_.file("runnel.db"); }

  TemporaryFolder folder_;
};

Event daily(std::string id, std::vector<std::int64_t> exdates) {
  Event event;
  event.id = std::move(id);
  event.title = "Standup";
  event.span = {0, kHourMs};
  event.timezone = "UTC";
  event.rrule = "FREQ=DAILY";
  event.series_end_at = kLastMs;
  event.exdates = std::move(exdates);
  return event;
}

TEST_F(CalendarSteps, DB_1_EventsKeepTheirExceptionsAndTheirStorage) {
  auto const bytes = [&] { return rows("SELECT bytes FROM storage_totals WHERE owner_id = 'ann'"); };
  auto older = open(4);
  run_async(older->write({add_event(kAnn, daily("e1", {0, kDayMs}), 1), add_event(kAnn, daily("e2", {}), 1),
                          add_invite(kAnn, "e1", {"i1", "bob", ""}, 1)}))
      .value();
  older.reset();
  auto const before = bytes();

  auto const newer = open(5);

  EXPECT_EQ(rows("SELECT id, exdates FROM calendar_events ORDER BY id"),
            (TextRows{{"e1", "[0,86400000]"}, {"e2", "null"}}));
  EXPECT_EQ(bytes(), before);
  EXPECT_EQ(rows("SELECT event_id FROM calendar_invites"), (TextRows{{"e1"}}));
  EXPECT_EQ(run_async(Repository{*newer}.find(kAnn, "e1")).value().value().exdates.size(), 2U);
  run_async(newer->write_one(remove_event(kAnn, "e1"))).value();
  run_async(newer->write_one(remove_event(kAnn, "e2"))).value();
  EXPECT_EQ(bytes(), (TextRows{{"0"}}));
}

}  // namespace
}  // namespace runnel::modules::calendar
