#include "runnel/modules/calendar/recurrence/rule.h"

#include <gtest/gtest.h>

namespace runnel::modules::calendar {
namespace {

std::string normal(std::string const& text, bool all_day = false) {
  auto const read = parse_rule(text, all_day);
  if (auto const* const failure = std::get_if<MethodFailure>(&read)) return failure->message;
  return to_text(std::get<Rule>(read));
}

TEST(Rule, TOOL_12_RuleHasOneNormalForm) {
  EXPECT_EQ(normal("freq=daily"), "FREQ=DAILY");
  EXPECT_EQ(normal("COUNT=3;INTERVAL=1;FREQ=DAILY;WKST=MO"), "FREQ=DAILY;COUNT=3");
  EXPECT_EQ(normal("BYDAY=WE,MO,WE;WKST=SU;INTERVAL=2;FREQ=WEEKLY"),
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;WKST=SU");
  EXPECT_EQ(normal("FREQ=MONTHLY;BYDAY=-1FR,+1MO,2MO"), "FREQ=MONTHLY;BYDAY=1MO,2MO,-1FR");
  EXPECT_EQ(
      normal(
          "FREQ=YEARLY;BYSETPOS=-1,1;BYDAY=SA,SU;BYMONTHDAY=-1,31;BYYEARDAY=-366;BYWEEKNO=53;BYMONTH=12,1"),
      "FREQ=YEARLY;BYMONTH=1,12;BYWEEKNO=53;BYYEARDAY=-366;BYMONTHDAY=31,-1;BYDAY=SA,SU;BYSETPOS=1,-1");
  EXPECT_EQ(normal("FREQ=DAILY;UNTIL=20261231t235959z"), "FREQ=DAILY;UNTIL=20261231T235959Z");
  EXPECT_EQ(normal("FREQ=DAILY;UNTIL=20261231", true), "FREQ=DAILY;UNTIL=20261231");
}

TEST(Rule, TOOL_12_NormalFormIsItsOwnNormalForm) {
  for (auto const* const text :
       {"FREQ=YEARLY;BYDAY=53MO,-53SU,WE", "FREQ=MONTHLY;BYMONTHDAY=-31,31,1;COUNT=1000",
        "FREQ=WEEKLY;INTERVAL=9999;UNTIL=99991231T235959Z;BYMONTH=1;WKST=SA"})
    EXPECT_EQ(normal(normal(text)), normal(text));
}

TEST(Rule, TOOL_12_RuleThatIsNotUnderstoodIsRefusedWithWhatIsExpected) {
  std::string const parts =
      "rrule must have parts such as FREQ=WEEKLY;BYDAY=MO,WE, which can be FREQ, INTERVAL, COUNT, UNTIL, "
      "BYMONTH, BYWEEKNO, BYYEARDAY, BYMONTHDAY, BYDAY, BYSETPOS and WKST";
  EXPECT_EQ(normal("every day"), parts);
  EXPECT_EQ(normal("RRULE:FREQ=DAILY"), parts);
  EXPECT_EQ(normal("RSCALE=HEBREW;FREQ=DAILY"), parts);
  EXPECT_EQ(normal("FREQ=DAILY;;COUNT=1"), parts);
  EXPECT_EQ(normal("FREQ=DAILY\r\nATTENDEE:x"), "rrule FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY");
  for (auto const* const text : {"", "FREQ=DAILY;"})
    EXPECT_EQ(normal(text), "rrule must have parts such as FREQ=WEEKLY;BYDAY=MO,WE, separated by semicolons");
  EXPECT_EQ(normal(std::string(513, 'x')), "rrule must have at most 512 characters");
  EXPECT_EQ(normal("COUNT=2"), "rrule must have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY");
  EXPECT_EQ(normal("FREQ=DAILY;FREQ=DAILY"), "rrule has FREQ twice");
}

TEST(Rule, TOOL_12_RuleBelowTheDayIsRefused) {
  for (auto const* const text : {"FREQ=SECONDLY", "FREQ=MINUTELY", "FREQ=HOURLY", "FREQ="})
    EXPECT_EQ(normal(text), "rrule FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY");
  for (auto const* const text : {"FREQ=DAILY;BYHOUR=9", "FREQ=DAILY;BYMINUTE=9", "FREQ=DAILY;BYSECOND=9"})
    EXPECT_EQ(
        normal(text),
        "rrule cannot have BYHOUR, BYMINUTE or BYSECOND: an event is at one time of day, that of its start");
}

TEST(Rule, TOOL_12_NumbersOutOfRangeAreRefused) {
  for (auto const* const text :
       {"0", "-1", "10000", "99999999999999999999", "1.5", "1x", " 1", "", "+", "++1", "+-1"})
    EXPECT_EQ(normal("FREQ=DAILY;INTERVAL=" + std::string{text}),
              "rrule INTERVAL must be a number from 1 to 9999")
        << text;
  EXPECT_EQ(normal("FREQ=DAILY;COUNT=1001"), "rrule COUNT must be a number from 1 to 1000");
  for (auto const* const text : {"0", "32", "-32", "", "1,", ",1", "1,,2", "1;", "MO"})
    EXPECT_NE(normal("FREQ=MONTHLY;BYMONTHDAY=" + std::string{text}).find("rrule "), std::string::npos)
        << text;
  EXPECT_EQ(normal("FREQ=YEARLY;BYMONTH=-1"),
            "rrule BYMONTH must have numbers from 1 to 12, separated by commas");
  for (auto const* const text :
       {"FREQ=YEARLY;BYWEEKNO=54", "FREQ=YEARLY;BYYEARDAY=367", "FREQ=YEARLY;BYDAY=54MO",
        "FREQ=YEARLY;BYDAY=0MO", "FREQ=DAILY;BYDAY=M", "FREQ=DAILY;BYDAY=MOO",
        "FREQ=DAILY;BYDAY=MO;BYSETPOS=367", "FREQ=DAILY;WKST=XX"})
    EXPECT_NE(normal(text).find(" must "), std::string::npos) << text;
}

TEST(Rule, TOOL_12_PartsThatDoNotGoTogetherAreRefused) {
  EXPECT_EQ(normal("FREQ=DAILY;COUNT=2;UNTIL=20261231T000000Z"), "rrule cannot have both COUNT and UNTIL");
  EXPECT_EQ(normal("FREQ=MONTHLY;BYWEEKNO=3"), "rrule can have BYWEEKNO only with FREQ=YEARLY");
  EXPECT_EQ(normal("FREQ=DAILY;BYYEARDAY=3"), "rrule can have BYYEARDAY only with FREQ=YEARLY");
  EXPECT_EQ(normal("FREQ=WEEKLY;BYMONTHDAY=3"), "rrule cannot have BYMONTHDAY with FREQ=WEEKLY");
  EXPECT_EQ(normal("FREQ=WEEKLY;BYDAY=1MO"),
            "rrule can have a number in BYDAY only with FREQ=MONTHLY or YEARLY");
  EXPECT_EQ(normal("FREQ=YEARLY;BYWEEKNO=3;BYDAY=1MO"), "rrule cannot have a number in BYDAY with BYWEEKNO");
  EXPECT_EQ(normal("FREQ=DAILY;BYSETPOS=1"), "rrule can have BYSETPOS only with another BY part");
}

TEST(Rule, TOOL_12_UntilIsADateForWholeDaysAndAnInstantInUtcForOthers) {
  std::string const instant =
      "rrule UNTIL must be an instant in UTC such as 20261231T235959Z, because the event is at a time of day";
  for (auto const* const text :
       {"20261231", "20261231T235959", "2026-12-31T23:59:59Z", "20261231T235959+0100", ""})
    EXPECT_EQ(normal("FREQ=DAILY;UNTIL=" + std::string{text}), instant) << text;
  EXPECT_EQ(normal("FREQ=DAILY;UNTIL=20261231T235959Z", true),
            "rrule UNTIL must be a date such as 20261231, because the event takes whole days");
  for (auto const* const text : {"20260230T000000Z", "20260101T250000Z", "19691231T235959Z"})
    EXPECT_EQ(normal("FREQ=DAILY;UNTIL=" + std::string{text}),
              "rrule UNTIL must be a date that exists, in the years 1970 to 9999")
        << text;
}

}  // namespace
}  // namespace runnel::modules::calendar
