#include "runnel/model/openai/retry_after.h"

#include <gtest/gtest.h>

namespace runnel::model {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

auto const kNow = system_clock::from_time_t(784'111'777);  // Sun, 06 Nov 1994 08:49:37 GMT.

std::optional<milliseconds> wish_in(std::vector<std::pair<std::string, std::string>> headers) {
  return read_retry_after(net::HttpHead{429, std::move(headers)}, kNow);
}

TEST(RetryAfter, USE_1_MillisecondsComeFirst) {
  EXPECT_EQ(wish_in({{"retry-after-ms", "1500.5"}, {"retry-after", "9"}}), milliseconds{1500});
}

TEST(RetryAfter, USE_1_SecondsWithOrWithoutAFraction) {
  EXPECT_EQ(wish_in({{"retry-after", "2"}}), milliseconds{2000});
  EXPECT_EQ(wish_in({{"retry-after", " 0.25 "}}), milliseconds{250});
  EXPECT_EQ(wish_in({{"retry-after-ms", "soon"}, {"retry-after", "2"}}), milliseconds{2000});
}

TEST(RetryAfter, USE_1_HttpDate) {
  EXPECT_EQ(wish_in({{"retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"}}), milliseconds{3000});
  EXPECT_EQ(wish_in({{"retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"}}), milliseconds{0});
}

TEST(RetryAfter, USE_1_WhatCannotBeReadIsAbsent) {
  for (auto const* text : {"", "soon", "nan", "inf", "1 day", "06 Nov 1994"})
    EXPECT_EQ(wish_in({{"retry-after", text}}), std::nullopt) << text;
  EXPECT_EQ(wish_in({}), std::nullopt);
  EXPECT_EQ(wish_in({{"retry-after", "-5"}}), milliseconds{0});
  EXPECT_GT(wish_in({{"retry-after", "99999999999999999999"}}), std::chrono::hours{1});
}

}  // namespace
}  // namespace runnel::model
