#include "runnel/core/money/money.h"

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

TEST(Money, USE_8_TotalIsExactBeyondWhatAnAmountHolds) {
  MoneyTotal total;
  EXPECT_EQ(to_decimal(total), "0");
  for (int i = 0; i < 3; ++i) {
    total.add({INT64_MAX});
  }
  EXPECT_EQ(to_decimal(total), "27670116.110564327421");
  EXPECT_TRUE(total.exceeds({INT64_MAX}));

  MoneyTotal negative;
  negative.add({-1'500'000'000'000});
  EXPECT_EQ(to_decimal(negative), "-1.5");
}

TEST(Money, USE_8_TotalTakesTheSumsOfUpperAndLowerHalves) {
  MoneyTotal halves;
  MoneyTotal whole;
  std::int64_t high = 0;
  std::int64_t low = 0;
  for (std::int64_t const pico : {INT64_MAX, INT64_MAX - 1, std::int64_t{4'294'967'295}, std::int64_t{7}}) {
    whole.add({pico});
    high += pico >> 32;
    low += pico & 4'294'967'295;
  }
  halves.add_halves(high, low);

  EXPECT_EQ(to_decimal(halves), to_decimal(whole));
  EXPECT_EQ(to_decimal(halves), "18446744.078004518915");
}

TEST(Money, USE_9_LimitIsExceededByOnePicoAndNotByItself) {
  MoneyTotal total;
  total.add({41});
  EXPECT_FALSE(total.exceeds({41}));
  EXPECT_TRUE(total.exceeds({40}));
}

}  // namespace
}  // namespace runnel
