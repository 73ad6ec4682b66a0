#include "runnel/model/pricing/price_times.h"

#include <gtest/gtest.h>

namespace runnel::model {
namespace {

TEST(PriceTimes, HoursEndLaterThanTheyBegin) {
  EXPECT_EQ(parse_hours("09:00-12:00"), (Hours{540, 720}));
  EXPECT_EQ(parse_hours("00:00-24:00"), (Hours{0, 1440}));
  for (auto const* text :
       {"", "09:00", "9:00-12:00", "12:00-09:00", "09:00-09:00", "22:00-24:01", "09:00-12:00x"})
    EXPECT_EQ(parse_hours(text), std::nullopt) << text;
}

}  // namespace
}  // namespace runnel::model
