#include "runnel/modules/calendar/recurrence/rule_days.h"

#include <gtest/gtest.h>

#include <chrono>

#include "runnel/core/time/instant.h"

namespace runnel::modules::calendar {
namespace {

using Texts = std::vector<std::string>;
constexpr std::int64_t kDayInMs = 86'400'000;

Day day_of(std::string const& date) {
  return static_cast<Day>(parse_day(date).value().time_since_epoch().count());
}

// The first days of the rule from the start on, each after a day of the week.
Texts first_days(std::string const& rule, std::string const& start, std::size_t most = 4) {
  Effort effort{1'000'000};
  RuleDays const days{std::get<Rule>(parse_rule(rule, true)), day_of(start)};
  Texts out;
  for (auto const day : days.between(day_of(start), day_of("9999-12-31"), most, effort))
    out.push_back(to_rfc3339(day * kDayInMs).substr(0, 10));
  return out;
}

TEST(RuleDays, TOOL_12_LeapDayComesInLeapYearsOnly) {
  EXPECT_EQ(first_days("FREQ=YEARLY", "2092-02-29", 3), (Texts{"2092-02-29", "2096-02-29", "2104-02-29"}));
}

TEST(RuleDays, TOOL_12_MonthsWithoutThatDayAreLeftOut) {
  EXPECT_EQ(first_days("FREQ=MONTHLY", "2026-01-31"),
            (Texts{"2026-01-31", "2026-03-31", "2026-05-31", "2026-07-31"}));
  EXPECT_EQ(first_days("FREQ=MONTHLY;BYMONTHDAY=-1", "2026-01-31", 3),
            (Texts{"2026-01-31", "2026-02-28", "2026-03-31"}));
  EXPECT_EQ(first_days("FREQ=MONTHLY;INTERVAL=2", "2026-12-31", 3),
            (Texts{"2026-12-31", "2027-08-31", "2027-10-31"}));
}

TEST(RuleDays, TOOL_12_NumberedDaysOfTheWeekCountInMonthsOrYears) {
  EXPECT_EQ(first_days("FREQ=MONTHLY;BYDAY=2TU,-1FR", "2026-05-01"),
            (Texts{"2026-05-12", "2026-05-29", "2026-06-09", "2026-06-26"}));
  EXPECT_EQ(first_days("FREQ=YEARLY;BYDAY=20MO", "1997-05-19", 3),
            (Texts{"1997-05-19", "1998-05-18", "1999-05-17"}));
  EXPECT_EQ(first_days("FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "2026-01-01", 2),
            (Texts{"2026-03-29", "2027-03-28"}));
  EXPECT_EQ(first_days("FREQ=MONTHLY;BYDAY=5MO", "2026-05-01", 3),
            (Texts{"2026-06-29", "2026-08-31", "2026-11-30"}));
  EXPECT_EQ(first_days("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "1997-09-02", 3),
            (Texts{"1998-02-13", "1998-03-13", "1998-11-13"}));
}

TEST(RuleDays, TOOL_12_PositionsChooseAmongTheDaysOfAWholePeriod) {
  EXPECT_EQ(first_days("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2026-05-15", 3),
            (Texts{"2026-05-29", "2026-06-30", "2026-07-31"}));
  EXPECT_EQ(first_days("FREQ=MONTHLY;BYDAY=TU,WE,TH;BYSETPOS=3", "1997-09-04", 3),
            (Texts{"1997-09-04", "1997-10-07", "1997-11-06"}));
  EXPECT_EQ(first_days("FREQ=YEARLY;BYDAY=MO;BYSETPOS=1,-1", "2026-06-01", 3),
            (Texts{"2026-12-28", "2027-01-04", "2027-12-27"}));
  EXPECT_EQ(first_days("FREQ=WEEKLY;BYDAY=MO,WE;BYSETPOS=2", "2026-05-04", 2),
            (Texts{"2026-05-06", "2026-05-13"}));
  EXPECT_EQ(first_days("FREQ=DAILY;BYDAY=MO;BYSETPOS=-1", "2026-05-04", 2),
            (Texts{"2026-05-04", "2026-05-11"}));
}

TEST(RuleDays, TOOL_12_IntervalsCountFromThePeriodOfTheStart) {
  EXPECT_EQ(first_days("FREQ=DAILY;INTERVAL=10", "2026-05-01", 3),
            (Texts{"2026-05-01", "2026-05-11", "2026-05-21"}));
  // The example of RFC 5545: the day on which weeks start decides what every other week is.
  EXPECT_EQ(first_days("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO", "1997-08-05"),
            (Texts{"1997-08-05", "1997-08-10", "1997-08-19", "1997-08-24"}));
  EXPECT_EQ(first_days("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU", "1997-08-05"),
            (Texts{"1997-08-05", "1997-08-17", "1997-08-19", "1997-08-31"}));
  EXPECT_EQ(first_days("FREQ=YEARLY;INTERVAL=3;BYYEARDAY=1,100,200", "1997-01-01"),
            (Texts{"1997-01-01", "1997-04-10", "1997-07-19", "2000-01-01"}));
}

TEST(RuleDays, TOOL_12_WeeksAreNumberedAsInIso8601) {
  EXPECT_EQ(first_days("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05-12", 3),
            (Texts{"1997-05-12", "1998-05-11", "1999-05-17"}));
  EXPECT_EQ(first_days("FREQ=YEARLY;BYWEEKNO=53", "2026-12-31", 3),
            (Texts{"2026-12-31", "2032-12-30", "2037-12-31"}));
  EXPECT_EQ(first_days("FREQ=YEARLY;BYWEEKNO=-1;BYDAY=MO", "2026-01-01", 2),
            (Texts{"2026-12-28", "2027-12-27"}));
}

TEST(RuleDays, TOOL_12_WhatTheRuleLeavesOpenIsThatOfTheStart) {
  EXPECT_EQ(first_days("FREQ=WEEKLY", "2026-05-01", 2), (Texts{"2026-05-01", "2026-05-08"}));
  EXPECT_EQ(first_days("FREQ=YEARLY;BYMONTH=6,7", "1997-06-10", 3),
            (Texts{"1997-06-10", "1997-07-10", "1998-06-10"}));
  EXPECT_EQ(first_days("FREQ=YEARLY;BYMONTHDAY=13", "2026-05-01", 2), (Texts{"2026-05-13", "2026-06-13"}));
  EXPECT_EQ(first_days("FREQ=DAILY;BYMONTH=1", "1998-01-30", 3),
            (Texts{"1998-01-30", "1998-01-31", "1999-01-01"}));
}

TEST(RuleDays, TOOL_12_AnySpanHasTheDaysThatAWalkFromTheStartFinds) {
  auto const start = day_of("2000-02-29");
  for (auto const* const text :
       {"FREQ=DAILY;INTERVAL=7", "FREQ=DAILY;INTERVAL=9;BYMONTH=3,4",
        "FREQ=WEEKLY;INTERVAL=3;BYDAY=SU,MO;WKST=SU", "FREQ=WEEKLY", "FREQ=MONTHLY;INTERVAL=5;BYDAY=-2TH",
        "FREQ=MONTHLY;BYDAY=SA,SU;BYSETPOS=-1,2", "FREQ=YEARLY;INTERVAL=2;BYWEEKNO=1,53",
        "FREQ=YEARLY;BYDAY=1SU,-1SU;BYSETPOS=2", "FREQ=YEARLY"}) {
    RuleDays const days{std::get<Rule>(parse_rule(text, true)), start};
    Effort effort{10'000'000};
    auto const all = days.between(start, start + 12'000, 100'000, effort);

    for (auto first = start - 10; first < start + 11'000; first += 97) {
      std::vector<Day> expected;
      for (auto const day : all) {
        if (day >= first && day < first + 200) expected.push_back(day);
      }
      EXPECT_EQ(days.between(first, first + 200, 1000, effort), expected) << text << " from " << first;
    }
  }
}

TEST(RuleDays, HTTP_9_SearchEndsWithItsEffort) {
  for (auto const* const text :
       {"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;INTERVAL=9",
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=300", "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=7",
        "FREQ=YEARLY;INTERVAL=9999;BYYEARDAY=366;BYMONTH=1"}) {
    RuleDays const days{std::get<Rule>(parse_rule(text, true)), day_of("2026-05-01")};
    Effort effort{5'000};

    EXPECT_TRUE(days.between(0, day_of("9999-12-31"), 1, effort).empty()) << text;
    EXPECT_GE(effort.left, -2) << text;
  }
}

}  // namespace
}  // namespace runnel::modules::calendar
