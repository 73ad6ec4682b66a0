#include "runnel/core/fact/position.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace runnel {
namespace {

TEST(Position, SSE_1_HasTheFormOfARedisStreamId) {
  EXPECT_EQ(to_string({1'700'000'000'000, 12}), "1700000000000-12");
}

TEST(Position, SSE_1_ComesBackFromItsText) {
  for (auto const position : {Position{0, 0}, Position{1, 2}, Position{INT64_MAX, INT64_MAX}}) {
    EXPECT_EQ(parse_position(to_string(position)), position);
  }
}

TEST(Position, SSE_4_AMalformedIdIsNone) {
  for (auto const* text :
       {"", "-", "1", "1-", "-1", "1-2-3", "01-2", "1-02", "+1-2", "1--2", " 1-2", "1-2 ", "a-b", "1-0x2",
        "9223372036854775808-1", "1-9223372036854775808", "1-18446744073709551616"}) {
    EXPECT_EQ(parse_position(text), std::nullopt) << text;
  }
}

TEST(Position, AnEpochOutranksAnyNumber) {
  EXPECT_LT((Position{1, 99}), (Position{2, 1}));
}

}  // namespace
}  // namespace runnel
