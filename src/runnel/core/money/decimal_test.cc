#include "runnel/core/money/decimal.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace runnel {
namespace {

Units units(std::int64_t value) {
  return value;
}

TEST(Decimal, USE_8_ReadsPlainAndScientificNotationExactly) {
  EXPECT_EQ(parse_units("0.8", 6), units(800'000));
  EXPECT_EQ(parse_units("1.4e-07", 12), units(140'000));
  EXPECT_EQ(parse_units("1.4E-7", 12), units(140'000));
  EXPECT_EQ(parse_units("12e+2", 0), units(1200));
  EXPECT_EQ(parse_units("256000.0", 0), units(256'000));
  EXPECT_EQ(parse_units("100e-2", 0), units(1));
  EXPECT_EQ(parse_units("0012.50", 1), units(125));
  EXPECT_EQ(parse_units("9223372.036854775807", 12), units(INT64_MAX));
}

TEST(Decimal, ZeroHasNoSignAndNoSize) {
  for (auto const* text : {"0", "-0", "0.000", "0e99", "-0.0e-400", "0e99999999999999999999"})
    EXPECT_EQ(parse_units(text, 12), units(0)) << text;
}

TEST(Decimal, TellsWhyATextIsRefused) {
  for (auto const* text : {"",         "-",    "+1",   ".5",  "1.", "1e", "1e+",   "e5",    "NaN", "nan",
                           "Infinity", "-inf", "0x10", "1,5", "1 ", " 1", "1_000", "1.2.3", "--1", "1e5.0"}) {
    EXPECT_EQ(parse_units(text, 12), Units{DecimalFault::not_a_number}) << text;
  }
  EXPECT_EQ(parse_units("-0.01", 12), Units{DecimalFault::negative});
  EXPECT_EQ(parse_units("0.0000001", 6), Units{DecimalFault::too_fine});
  EXPECT_EQ(parse_units("1.4e-13", 12), Units{DecimalFault::too_fine});
  EXPECT_EQ(parse_units("1e-99999999999999999999", 12), Units{DecimalFault::too_fine});
  EXPECT_EQ(parse_units("9223372.036854775808", 12), Units{DecimalFault::too_large});
  EXPECT_EQ(parse_units("1e99999999999999999999", 12), Units{DecimalFault::too_large});
}

TEST(Decimal, RoundsTheNumbersOfOthersToTheNearestUnit) {
  EXPECT_EQ(round_units("1.2300000000000001e-05", 12), units(12'300'000));
  EXPECT_EQ(round_units("0.0000000000014", 12), units(1));
  EXPECT_EQ(round_units("0.0000000000015", 12), units(2));
  EXPECT_EQ(round_units("0.0000000000005", 12), units(1));
  EXPECT_EQ(round_units("0.00000000000049999", 12), units(0));
  EXPECT_EQ(round_units("9e-400", 12), units(0));
  EXPECT_EQ(round_units("9223372.0368547758074", 12), units(INT64_MAX));
  EXPECT_EQ(round_units("9223372.0368547758075", 12), Units{DecimalFault::too_large});
  EXPECT_EQ(round_units("-1e-30", 12), Units{DecimalFault::negative});
}

}  // namespace
}  // namespace runnel
