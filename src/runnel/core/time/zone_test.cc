#include "runnel/core/time/zone.h"

#include <gtest/gtest.h>

namespace runnel {
namespace {

using namespace std::chrono_literals;
using std::chrono::local_days;

std::int64_t utc(std::chrono::year_month_day day, std::chrono::milliseconds since_midnight) {
  return (std::chrono::sys_days{day}.time_since_epoch() + since_midnight) / 1ms;
}

TEST(Zone, IsFoundByItsNameOnly) {
  EXPECT_EQ(Zone::find("Asia/Shanghai").value().name(), "Asia/Shanghai");
  EXPECT_FALSE(Zone::find("Asia/Nowhere"));
  EXPECT_FALSE(Zone::find(""));
}

TEST(Zone, TellsDayAndMinuteOfItsClocks) {
  auto const shanghai = Zone::find("Asia/Shanghai").value();

  auto const before = shanghai.at(utc(2026y / 11 / 15, 16h - 1ms));
  auto const after = shanghai.at(utc(2026y / 11 / 15, 16h));

  EXPECT_EQ(before.day, local_days{2026y / 11 / 15});
  EXPECT_EQ(before.minute, 23 * 60 + 59);
  EXPECT_EQ(after.day, local_days{2026y / 11 / 16});
  EXPECT_EQ(after.minute, 0);
}

TEST(Zone, KnowsWhenADayBeginsAlsoWhereItHasNoMidnight) {
  EXPECT_EQ(Zone::find("Asia/Shanghai")->day_begins(local_days{2026y / 10 / 17}), utc(2026y / 10 / 16, 16h));
  // In Beirut clocks went from midnight to one o'clock.
  EXPECT_EQ(Zone::find("Asia/Beirut")->day_begins(local_days{2022y / 3 / 27}), utc(2022y / 3 / 26, 22h));
}

TEST(Zone, TOOL_12_TellsWhenItsOffsetChanges) {
  auto const berlin = Zone::find("Europe/Berlin").value();

  auto const winter = berlin.offset_at(utc(2026y / 1 / 1, 0h));
  auto const summer = berlin.offset_at(winter.ends_at);

  EXPECT_EQ(winter.seconds, 3600);
  EXPECT_FALSE(winter.is_summer);
  EXPECT_EQ(winter.ends_at, utc(2026y / 3 / 29, 1h));
  EXPECT_EQ(summer.seconds, 7200);
  EXPECT_TRUE(summer.is_summer);
  EXPECT_EQ(summer.name, "CEST");
  EXPECT_EQ(summer.begins_at, winter.ends_at);
  EXPECT_GT(Zone::find("Etc/UTC")->offset_at(0).ends_at, utc(9999y / 12 / 31, 0h));
}

TEST(Zone, TOOL_12_LocalTimesAreCountedAsRfc5545Says) {
  auto const berlin = Zone::find("Europe/Berlin").value();
  auto const at = [&](std::chrono::year_month_day day, std::chrono::seconds time) {
    return berlin.instant_of(std::chrono::local_seconds{local_days{day}} + time);
  };

  EXPECT_EQ(at(2026y / 7 / 1, 9h + 1s), utc(2026y / 7 / 1, 7h + 1s));
  EXPECT_EQ(at(2026y / 3 / 29, 2h + 30min), utc(2026y / 3 / 29, 1h + 30min));
  EXPECT_EQ(at(2026y / 10 / 25, 2h + 30min), utc(2026y / 10 / 25, 0h + 30min));
}

TEST(Zone, LocalTimeThatIsSkippedIsTheMomentOfTheChangeAndOneThatComesTwiceTheFirst) {
  auto const berlin = Zone::find("Europe/Berlin").value();

  EXPECT_EQ(berlin.to_local(utc(2026y / 3 / 29, 1h - 1ms)), utc(2026y / 3 / 29, 2h - 1ms));
  EXPECT_EQ(berlin.to_local(utc(2026y / 3 / 29, 1h)), utc(2026y / 3 / 29, 3h));
  EXPECT_EQ(berlin.to_instant(utc(2026y / 3 / 29, 2h + 30min)), utc(2026y / 3 / 29, 1h));
  EXPECT_EQ(berlin.to_instant(utc(2026y / 10 / 25, 2h + 30min)), utc(2026y / 10 / 25, 30min));
}

}  // namespace
}  // namespace runnel
