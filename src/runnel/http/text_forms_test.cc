#include "runnel/http/text_forms.h"

#include <gtest/gtest.h>

namespace runnel::http {
namespace {

TEST(Instant, USE_8_IsAnyRfc3339InstantOrADate) {
  constexpr std::int64_t kMidnight = 1'794'787'200'000;
  EXPECT_EQ(parse_instant("2026-11-16"), kMidnight);
  EXPECT_EQ(parse_instant("2026-11-16T00:00:00Z"), kMidnight);
  EXPECT_EQ(parse_instant("2026-11-16t08:00:00+08:00"), kMidnight);
  EXPECT_EQ(parse_instant("2026-11-15T18:30:00-05:30"), kMidnight);
  EXPECT_EQ(parse_instant("2026-11-16T00:00:00.5z"), kMidnight + 500);
  EXPECT_EQ(parse_instant("2026-11-16T23:59:59.99999Z"), kMidnight + 86'399'999);
  EXPECT_EQ(parse_instant("1969-12-31T23:59:59Z"), -1000);
  EXPECT_EQ(parse_instant("2028-02-29"), 1'835'395'200'000);
}

TEST(Instant, USE_8_ComesBackFromItsText) {
  EXPECT_EQ(parse_instant(to_rfc3339(1'700'000'000'123)), 1'700'000'000'123);
}

TEST(Instant, USE_8_NothingElseIsOne) {
  for (auto const* text : {"",
                           "1",
                           "2026",
                           "2026-11",
                           "2026-13-01",
                           "2026-02-29",
                           "2026-11-31",
                           "26-11-16",
                           "2026-11-16T",
                           "2026-11-16T10:00Z",
                           "2026-11-16T10:00:00",
                           "2026-11-16T24:00:00Z",
                           "2026-11-16T10:60:00Z",
                           "2026-11-16T10:00:60Z",
                           "2026-11-16T10:00:00.Z",
                           "2026-11-16T10:00:00+8",
                           "2026-11-16T10:00:00+0800",
                           "2026-11-16T10:00:00Zx",
                           "2026-11-16 10:00:00Z",
                           "2026-11-16T10:00:00 08:00",
                           "-026-11-16",
                           "2026-1a-16",
                           "yesterday"}) {
    EXPECT_EQ(parse_instant(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace runnel::http
