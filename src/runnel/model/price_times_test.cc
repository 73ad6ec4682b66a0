#include "runnel/model/price_times.h"

#include <gtest/gtest.h>

namespace runnel::model {
namespace {

TEST(PriceTimes, InstantsHaveAnOffsetAndDaysAZone) {
  auto const shanghai = Zone::find("Asia/Shanghai").value();

  EXPECT_EQ(parse_instant("1970-01-01T00:00:01Z", shanghai), 1000);
  EXPECT_EQ(parse_instant("1970-01-01T08:00+08:00", shanghai), 0);
  EXPECT_EQ(parse_instant("1969-12-31T19:00:00-05:00", shanghai), 0);
  EXPECT_EQ(parse_instant("1970-01-02", shanghai), 16 * 3600 * 1000);
  for (auto const* text :
       {"", "2026", "2026-02-30", "2026-13-01", "26-01-01", "2026-01-01T00:00:00", "2026-01-01T24:00Z",
        "2026-01-01T00:60Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00Zz", "2026-01-01 00:00Z"}) {
    EXPECT_EQ(parse_instant(text, shanghai), std::nullopt) << text;
  }
}

TEST(PriceTimes, HoursEndLaterThanTheyBegin) {
  EXPECT_EQ(parse_hours("09:00-12:00"), (Hours{540, 720}));
  EXPECT_EQ(parse_hours("00:00-24:00"), (Hours{0, 1440}));
  for (auto const* text :
       {"", "09:00", "9:00-12:00", "12:00-09:00", "09:00-09:00", "22:00-24:01", "09:00-12:00x"})
    EXPECT_EQ(parse_hours(text), std::nullopt) << text;
}

}  // namespace
}  // namespace runnel::model
