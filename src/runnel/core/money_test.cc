#include "runnel/core/money.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace runnel {
namespace {

TEST(Money, IsPlainDecimalTextWithoutTrailingZeros) {
  EXPECT_EQ(to_decimal({0}), "0");
  EXPECT_EQ(to_decimal({1'500'000'000'000}), "1.5");
  EXPECT_EQ(to_decimal({1}), "0.000000000001");
  EXPECT_EQ(to_decimal({-20'000'000'000'000}), "-20");
  EXPECT_EQ(to_decimal({INT64_MIN}), "-9223372.036854775808");
}

TEST(Money, ComesBackFromItsText) {
  for (std::int64_t const pico :
       {std::int64_t{0}, std::int64_t{7}, std::int64_t{-1'500'000'000'000}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(parse_money(to_decimal({pico})), Money{pico});
  }
}

TEST(Money, RefusesOtherNotationsAndWhatDoesNotFit) {
  for (auto const* text :
       {"", "-", ".5", "1.", "+1", "1e3", " 1", "0.0000000000001", "9223372.036854775808", "99999999999"}) {
    EXPECT_EQ(parse_money(text), std::nullopt) << text;
  }
}

TEST(Money, AddsOrSaysThatTheSumDoesNotFit) {
  EXPECT_EQ(checked_add({1}, {2}), Money{3});
  EXPECT_EQ(checked_add({INT64_MAX}, {1}), std::nullopt);
}

}  // namespace
}  // namespace runnel
