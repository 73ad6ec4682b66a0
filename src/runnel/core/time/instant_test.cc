#include "runnel/core/time/instant.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

namespace runnel {
namespace {

// The zone of the machine, for as long as this lives.
class LocalZone {
 public:
  explicit LocalZone(char const* name) {
    if (auto const* const before = std::getenv("TZ")) before_ = before;
    setenv("TZ", name, 1);
    tzset();
  }
  LocalZone(LocalZone const&) = delete;
  LocalZone& operator=(LocalZone const&) = delete;
  ~LocalZone() {
    if (before_) {
      setenv("TZ", before_->c_str(), 1);
    } else {
      unsetenv("TZ");
    }
    tzset();
  }

 private:
  std::optional<std::string> before_;
};

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

TEST(Instant, USE_6_ADateBeginsInItsZone) {
  auto const shanghai = Zone::find("Asia/Shanghai").value();
  EXPECT_EQ(parse_instant("1970-01-02", shanghai), 16 * 3600 * 1000);
  EXPECT_EQ(parse_instant("1970-01-01T00:00:01Z", shanghai), 1000);
  EXPECT_EQ(parse_instant("1969-12-31T19:00:00-05:00", shanghai), 0);
  EXPECT_EQ(parse_instant("2026-02-30", shanghai), std::nullopt);
  EXPECT_EQ(parse_instant("2026-01-01T00:00:00", shanghai), std::nullopt);
}

TEST(Instant, USE_8_IsWrittenInUtcWithOrWithoutMilliseconds) {
  LocalZone const zone{"Asia/Shanghai"};
  EXPECT_EQ(to_rfc3339(1'700'000'000'007), "2023-11-14T22:13:20.007Z");
  EXPECT_EQ(to_rfc3339(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(to_rfc3339(16'725'225'600'000), "2500-01-01T00:00:00.000Z");
  EXPECT_EQ(to_rfc3339_seconds(1'700'000'000), "2023-11-14T22:13:20Z");
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
                           "2026-11-16T10:00:00+24:00",
                           "2026-11-16T10:00:00+08:60",
                           "2026-11-16T1:00:00Z",
                           "+2026-11-16",
                           "2026-11-16T10:00:00.1.2Z",
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
}  // namespace runnel
