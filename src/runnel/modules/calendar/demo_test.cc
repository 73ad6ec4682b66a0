#include "runnel/modules/calendar/demo.h"

#include <gtest/gtest.h>

#include "runnel/modules/calendar/module.h"
#include "runnel/modules/testing/module_under_test.h"
#include "tests/support/run_async.h"

namespace runnel::modules::calendar {
namespace {

// Friday, 1 May 2026, 23:30 in Shanghai.
DemoUser const kDemo{UserId{"demo"}, "Asia/Shanghai", 1'777'649'400'000};

TEST(CalendarDemo, USE_2_NewUserHasEventsAroundTodayAndAnInvitation) {
  ModuleUnderTest module{define()};
  run_async(module.database().write(demo_statements(kDemo))).value();

  auto const listed = module.ask(api::Method::get,
                                 "/api/v1/calendar/events?from=2026-05-01T00:00:00%2B08:00"
                                 "&to=2026-05-05T00:00:00%2B08:00&timezone=Asia/Shanghai",
                                 "", "demo");
  auto const invites = module.ask(api::Method::get, "/api/v1/calendar/invites", "", "demo");

  EXPECT_NE(listed.body.find("\"count\":4"), std::string::npos) << listed.body;
  EXPECT_NE(listed.body.find("2026-05-01T07:00:00.000Z"), std::string::npos) << listed.body;
  EXPECT_NE(invites.body.find("evt_demo_review"), std::string::npos) << invites.body;
}

TEST(CalendarDemo, AddingItTwiceFailsAndChangesNothing) {
  ModuleUnderTest module{define()};
  run_async(module.database().write(demo_statements(kDemo))).value();

  auto const again = run_async(module.database().write(demo_statements(kDemo)));

  EXPECT_EQ(again.error().code, Errc::conflict);
}

}  // namespace
}  // namespace runnel::modules::calendar
