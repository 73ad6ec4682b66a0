#include "runnel/modules/calendar/ics/imported_event.h"

#include <gtest/gtest.h>

#include "runnel/core/time/instant.h"
#include "runnel/modules/calendar/actions.h"
#include "runnel/modules/calendar/ics/import.h"

namespace runnel::modules::calendar {
namespace {

// The events of a file that can be read.
std::vector<FileItem> read_file(std::string const& file, std::string const& zone) {
  EventsOfFile events{std::get<CalendarFile>(read_calendar_file(file)), zone};
  while (events.read_some()) {
  }
  return events.items();
}

constexpr char kHour[] = "DTSTART:20260501T070000Z\r\nDTEND:20260501T080000Z\r\n";

FileItem item_of(std::string const& properties, std::string const& zone = "UTC",
                 std::string const& zones = "") {
  auto const read = read_file("BEGIN:VCALENDAR\r\n" + zones + "BEGIN:VEVENT\r\nUID:u1\r\nSUMMARY:Tea\r\n" +
                                  properties + "END:VEVENT\r\nEND:VCALENDAR\r\n",
                              zone);
  return read.at(0);
}

ImportedEvent imported(std::string const& properties, std::string const& zone = "UTC",
                       std::string const& zones = "") {
  auto const item = item_of(properties, zone, zones);
  if (auto const* const failed = std::get_if<MethodFailure>(&item)) ADD_FAILURE() << failed->message;
  return std::get<ImportedEvent>(item);
}

// "START END ZONE"
std::string span(std::string const& properties, std::string const& zone = "UTC",
                 std::string const& zones = "") {
  auto const event = imported(properties, zone, zones).event;
  return to_rfc3339(event.span.start_at) + " " + to_rfc3339(event.span.end_at) + " " + event.timezone;
}

// "CODE message"
std::string import_failure(std::string const& properties) {
  auto const item = item_of(properties);
  auto const* const failed = std::get_if<MethodFailure>(&item);
  return failed == nullptr ? "" : failed->code + " " + failed->message;
}

TEST(ImportedEvent, TOOL_12_TextsAreThoseOfTheFile) {
  auto const read =
      imported(std::string{kHour} +
               "LOCATION;LANGUAGE=de:Room 3\\, left\r\nDESCRIPTION:one\\ntwo\\\\\r\nSEQUENCE:3\r\n"
               "LAST-MODIFIED:20260401T000000Z\r\nDTSTAMP:20250101T000000Z\r\n");

  EXPECT_EQ(read.uid, "u1");
  EXPECT_EQ(read.event.title, "Tea");
  EXPECT_EQ(read.event.location, "Room 3, left");
  EXPECT_EQ(read.event.description, "one\ntwo\\");
  EXPECT_EQ(read.sequence, 3);
  EXPECT_EQ(to_rfc3339(read.modified_at), "2026-04-01T00:00:00.000Z");
}

TEST(ImportedEvent, TOOL_12_TimesAreThoseOfTheirZones) {
  std::string const summer = "2026-05-01T07:00:00.000Z 2026-05-01T08:00:00.000Z ";
  EXPECT_EQ(span(kHour), summer + "UTC");
  EXPECT_EQ(
      span("DTSTART;TZID=Europe/Berlin:20260501T090000\r\nDTEND;TZID=Europe/Berlin:20260501T100000\r\n"),
      summer + "Europe/Berlin");
  EXPECT_EQ(span("DTSTART;TZID=\"W. Europe Standard Time\":20260501T090000\r\nDTEND:20260501T080000Z\r\n"),
            summer + "Europe/Berlin");
  EXPECT_EQ(span("DTSTART;TZID=/mozilla.org/20050126_1/Europe/Berlin:20260501T090000\r\nDURATION:PT1H\r\n"),
            summer + "Europe/Berlin");
  EXPECT_EQ(span("DTSTART;TZID=Mine:20260501T090000\r\nDURATION:PT1H\r\n", "UTC",
                 "BEGIN:VTIMEZONE\r\nTZID:Mine\r\nX-LIC-LOCATION:Europe/Berlin\r\nEND:VTIMEZONE\r\n"),
            summer + "Europe/Berlin");
  EXPECT_EQ(span("DTSTART:20260501T150000\r\nDURATION:PT1H\r\n", "Asia/Shanghai"), summer + "Asia/Shanghai");
  EXPECT_EQ(span(std::string{kHour} + "X-RUNNEL-TIMEZONE:Asia/Tokyo\r\n"), summer + "Asia/Tokyo");
}

TEST(ImportedEvent, TOOL_12_StartIsTheSecondOfTwoHoursIfItsInstantIsGiven) {
  std::string const half_past_one = "DTSTART;TZID=America/New_York:20261101T013000\r\nDURATION:PT1H\r\n";

  EXPECT_EQ(span(half_past_one), "2026-11-01T05:30:00.000Z 2026-11-01T06:30:00.000Z America/New_York");
  EXPECT_EQ(span(half_past_one + "X-RUNNEL-START:20261101T063000Z\r\n"),
            "2026-11-01T06:30:00.000Z 2026-11-01T07:30:00.000Z America/New_York");
  // Another program has moved the event.
  EXPECT_EQ(span(half_past_one + "X-RUNNEL-START:20261101T070000Z\r\n"), span(half_past_one));
  EXPECT_EQ(import_failure(half_past_one + "X-RUNNEL-START:20261101T013000\r\n"),
            "INVALID_EVENT X-RUNNEL-START must be a time in UTC");
}

TEST(ImportedEvent, TOOL_12_DatesAreWholeDays) {
  EXPECT_EQ(span("DTSTART;VALUE=DATE:20260501\r\nDTEND;VALUE=DATE:20260503\r\n", "Asia/Shanghai"),
            "2026-05-01T00:00:00.000Z 2026-05-03T00:00:00.000Z Asia/Shanghai");
  EXPECT_EQ(span("DTSTART;VALUE=DATE:20260501\r\n"), "2026-05-01T00:00:00.000Z 2026-05-02T00:00:00.000Z UTC");
  EXPECT_EQ(span("DTSTART;VALUE=DATE:20260501\r\nDURATION:P1W\r\n"),
            "2026-05-01T00:00:00.000Z 2026-05-08T00:00:00.000Z UTC");
  EXPECT_TRUE(imported("DTSTART;VALUE=DATE:20260501\r\n").event.all_day);
}

// 24 October 2026 has 25 hours in Berlin from noon to noon.
TEST(ImportedEvent, TOOL_12_DayOfADurationEndsAtTheSameTimeOfDay) {
  EXPECT_EQ(span("DTSTART;TZID=Europe/Berlin:20261024T120000\r\nDURATION:P1D\r\n"),
            "2026-10-24T10:00:00.000Z 2026-10-25T11:00:00.000Z Europe/Berlin");
  EXPECT_EQ(span("DTSTART;TZID=Europe/Berlin:20261024T120000\r\nDURATION:PT24H\r\n"),
            "2026-10-24T10:00:00.000Z 2026-10-25T10:00:00.000Z Europe/Berlin");
}

TEST(ImportedEvent, TOOL_12_FirstFiveAlarmsInWholeMinutesAreReminders) {
  std::string alarms;
  for (auto const* const trigger :
       {"TRIGGER:-PT15M", "TRIGGER;RELATED=END:-PT1M", "TRIGGER:PT5M", "TRIGGER:-PT30S", "TRIGGER:-P1D",
        "TRIGGER:PT0S", "TRIGGER:-PT15M", "TRIGGER;VALUE=DATE-TIME:20260501T000000Z", "TRIGGER:-P1W",
        "TRIGGER:-P5W", "TRIGGER:-PT1H", "TRIGGER:-PT2H", "ACTION:AUDIO"})
    alarms += "BEGIN:VALARM\r\n" + std::string{trigger} + "\r\nEND:VALARM\r\n";

  EXPECT_EQ(imported(kHour + alarms).event.reminders, "[15,1440,0,10080,60]");
  EXPECT_EQ(imported(kHour).event.reminders, "");
}

TEST(ImportedEvent, TOOL_12_BrokenEventsSayWhatIsWrong) {
  EXPECT_EQ(import_failure("DTEND:20260501T080000Z\r\n"), "INVALID_EVENT DTSTART is missing");
  EXPECT_EQ(import_failure("DTSTART:20260501T080000Z\r\nDTEND:20260501T070000Z\r\n"),
            "INVALID_EVENT the event must end after it starts");
  for (auto const* const time : {"20260230", "20260501T250000Z", "2026-05-01", "20260501T0900", "19691231",
                                 "", "x", "20260501T090000+0200", "20260501T090060Z"})
    EXPECT_EQ(import_failure("DTSTART:" + std::string{time} + "\r\n"),
              "INVALID_EVENT DTSTART must be a date or a time that exists, in the years 1970 to 9999")
        << time;
  EXPECT_EQ(import_failure("DTSTART:20260501\r\nDTEND:20260502T000000Z\r\n"),
            "INVALID_EVENT DTSTART and DTEND must both be dates or both be times");
  for (auto const* const duration :
       {"", "P", "PT", "1H", "P1H", "PT1D", "PT1M1H", "P1W1D", "PT1HT1M", "-", "P1"})
    EXPECT_EQ(import_failure("DTSTART:20260501T070000Z\r\nDURATION:" + std::string{duration} + "\r\n"),
              "INVALID_EVENT DURATION must be a duration, such as PT1H30M")
        << duration;
  EXPECT_EQ(import_failure(std::string{kHour} + "DURATION:PT1H\r\n"),
            "INVALID_EVENT DTEND and DURATION cannot be used together");
  EXPECT_EQ(import_failure(std::string{kHour} + "SUMMARY:x\r\n"),
            "INVALID_EVENT SUMMARY occurs more than once");
  EXPECT_EQ(import_failure(std::string{kHour} + "SEQUENCE:-1\r\n"),
            "INVALID_EVENT SEQUENCE must be a whole number that is not negative");
  EXPECT_EQ(import_failure(std::string{kHour} + "DTSTAMP:20260501T070000\r\n"),
            "INVALID_EVENT DTSTAMP must be a time in UTC");
  EXPECT_EQ(import_failure("DTSTART;VALUE=DATE:20260501\r\nDURATION:PT1H\r\n"),
            "INVALID_EVENT DURATION must be in whole days for a date");
}

TEST(ImportedEvent, TOOL_12_WhatCannotBeKeptExactlyIsNotKept) {
  std::string const hour = kHour;
  EXPECT_EQ(
      import_failure("DTSTART;TZID=Mars/Base:20260501T090000\r\nDURATION:PT1H\r\n"),
      "UNSUPPORTED_EVENT DTSTART: the time zone \"Mars/Base\" is unknown; use a name of the IANA database");
  EXPECT_EQ(import_failure("DTSTART:20260501T070000Z\r\n"),
            "UNSUPPORTED_EVENT DTEND and DURATION are missing: the event would have no length");
  EXPECT_EQ(import_failure("DTSTART:20260501T070000Z\r\nDURATION:P999999999W\r\n"),
            "UNSUPPORTED_EVENT the event lasts longer than 366 days");
  EXPECT_EQ(import_failure("DTSTART:20260501\r\nDTEND:20280501\r\n"),
            "UNSUPPORTED_EVENT the event lasts longer than 366 days");
  EXPECT_EQ(import_failure(hour + "RECURRENCE-ID:20260501T070000Z\r\n"),
            "UNSUPPORTED_EVENT RECURRENCE-ID: a single occurrence of a series cannot be changed here");
  EXPECT_EQ(import_failure(hour + "RDATE:20260501T070000Z\r\n"), "UNSUPPORTED_EVENT RDATE is not supported");
  EXPECT_EQ(import_failure(hour + "EXRULE:FREQ=DAILY\r\n"), "UNSUPPORTED_EVENT EXRULE is not supported");
  EXPECT_EQ(import_failure(hour + "STATUS:cancelled\r\n"),
            "UNSUPPORTED_EVENT STATUS: the event is cancelled");
  EXPECT_EQ(import_failure(hour + "DESCRIPTION:" + std::string(4001, 'x') + "\r\n"),
            "UNSUPPORTED_EVENT DESCRIPTION has more than 4000 characters");
  EXPECT_EQ(import_failure(hour + "X-RUNNEL-TIMEZONE:Mars\r\n"),
            "UNSUPPORTED_EVENT X-RUNNEL-TIMEZONE must be a name of the IANA database");
}

TEST(ImportedEvent, TOOL_12_SeriesHaveTheirRuleAndExceptions) {
  auto const read = imported(
      "DTSTART;TZID=Europe/Berlin:20261019T090000\r\nDURATION:PT1H\r\nRRULE:BYDAY=MO;FREQ=WEEKLY;COUNT=5\r\n"
      "EXDATE;TZID=Europe/Berlin:20261026T090000,20261027T090000\r\nEXDATE:20261102T080000Z\r\n");

  EXPECT_EQ(read.event.rrule, "FREQ=WEEKLY;COUNT=5;BYDAY=MO");
  EXPECT_EQ(read.event.timezone, "Europe/Berlin");
  ASSERT_EQ(read.event.exdates.size(), 2U);
  EXPECT_EQ(to_rfc3339(read.event.exdates[0]), "2026-10-26T08:00:00.000Z");
  EXPECT_EQ(to_rfc3339(read.event.exdates[1]), "2026-11-02T08:00:00.000Z");
  EXPECT_EQ(to_rfc3339(read.event.series_end_at), "2026-11-16T09:00:00.000Z");
  auto const days = imported("DTSTART:20260501\r\nRRULE:FREQ=YEARLY\r\nEXDATE;VALUE=DATE:20270501\r\n");
  ASSERT_EQ(days.event.exdates.size(), 1U);
  EXPECT_EQ(to_rfc3339(days.event.exdates[0]), "2027-05-01T00:00:00.000Z");
}

TEST(ImportedEvent, TOOL_12_RulesThatCannotBeKeptAreRefused) {
  std::string const hour = kHour;
  for (auto const* const rule : {"", "x", "FREQ=SECONDLY", "FREQ=HOURLY;INTERVAL=2", "FREQ=DAILY;X=1",
                                 "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;UNTIL=20270101",
                                 "FREQ=DAILY;COUNT=99999999999999999999", "FREQ=DAILY;BYHOUR=1,2,3"})
    EXPECT_TRUE(import_failure(hour + "RRULE:" + rule + "\r\n").starts_with("UNSUPPORTED_EVENT RRULE: "))
        << rule;
  EXPECT_EQ(import_failure(hour + "RRULE:FREQ=DAILY;COUNT=1\r\nEXDATE:20260501T070000Z\r\n"),
            "UNSUPPORTED_EVENT EXDATE leaves no occurrence of the series");
  EXPECT_EQ(import_failure(hour + "RRULE:FREQ=DAILY\r\nEXDATE:20260502\r\n"),
            "UNSUPPORTED_EVENT EXDATE and DTSTART must both be dates or both be times");
  std::string exdates = "EXDATE:20260501T070000Z";
  for (int i = 0; i < 500; ++i)
    exdates += ",20260502T0700" + std::to_string(10 + i % 50) + "Z";
  EXPECT_EQ(import_failure(hour + "RRULE:FREQ=DAILY\r\n" + exdates + "\r\n"),
            "UNSUPPORTED_EVENT EXDATE has more than 500 occurrences");
}

// On 8 March 2026 the clocks in New York skip the hour from two to three.
TEST(ImportedEvent, TOOL_12_SeriesCannotStartAtATimeThatIsSkipped) {
  std::string const skipped = "DTSTART;TZID=America/New_York:20260308T023000\r\nDURATION:PT1H\r\n";

  EXPECT_EQ(
      import_failure(skipped + "RRULE:FREQ=DAILY\r\n"),
      "UNSUPPORTED_EVENT DTSTART: the clocks of America/New_York skip this time, so the time of day of the "
      "other occurrences is not known; let the event start on another day");
  EXPECT_EQ(import_failure(
                "DTSTART;TZID=America/New_York:20260307T023000\r\nDURATION:PT1H\r\nRRULE:FREQ=DAILY\r\n"),
            "");
  EXPECT_EQ(import_failure("DTSTART;VALUE=DATE:20260308\r\nRRULE:FREQ=DAILY\r\n"), "");
  EXPECT_EQ(span(skipped), "2026-03-08T07:30:00.000Z 2026-03-08T08:30:00.000Z America/New_York");
}

TEST(ImportedEvent, TOOL_12_UntilWithoutAZoneIsInThatOfTheStart) {
  auto const rule = [](std::string const& rrule) {
    return imported("DTSTART:20260501T090000\r\nDURATION:PT1H\r\nRRULE:" + rrule + "\r\n", "Asia/Shanghai")
        .event.rrule;
  };

  EXPECT_EQ(rule("FREQ=DAILY;UNTIL=20261231T090000"), "FREQ=DAILY;UNTIL=20261231T010000Z");
  EXPECT_EQ(rule("until=20261231T090000;FREQ=DAILY"), "FREQ=DAILY;UNTIL=20261231T010000Z");
  EXPECT_EQ(rule("FREQ=DAILY;UNTIL=20261231T090000Z"), "FREQ=DAILY;UNTIL=20261231T090000Z");
  EXPECT_EQ(imported("DTSTART:20260501T090000\r\nDURATION:PT1H\r\nRRULE:FREQ=DAILY;UNTIL=99991231T235959\r\n",
                     "America/New_York")
                .event.rrule,
            "FREQ=DAILY;UNTIL=99991231T235959Z");
  for (auto const* const start :
       {"DTSTART;TZID=Asia/Shanghai:20260501T090000", "DTSTART:20260501T090000Z", "DTSTART:20260501"})
    EXPECT_TRUE(
        import_failure(std::string{start} + "\r\nDURATION:P1D\r\nRRULE:FREQ=DAILY;UNTIL=20261231T090000\r\n")
            .starts_with("UNSUPPORTED_EVENT RRULE: rrule UNTIL must be "))
        << start;
}

TEST(ImportedEvent, TOOL_12_FileHasNoMoreRulesThanAUserMayHave) {
  std::string file = "BEGIN:VCALENDAR\n";
  for (int i = 0; i < 501; ++i)
    file += "BEGIN:VEVENT\nUID:" + std::to_string(i) +
            "\nSUMMARY:a\nDTSTART:20260501\nRRULE:FREQ=DAILY\nEND:VEVENT\n";

  auto const items = read_file(file + "END:VCALENDAR\n", "UTC");

  EXPECT_TRUE(std::holds_alternative<ImportedEvent>(items[499]));
  EXPECT_EQ(std::get<MethodFailure>(items[500]).code, kTooManySeries);
}

TEST(ImportedEvent, TOOL_12_EventNeedsAUidOfItsOwnAndATitle) {
  auto const items = read_file(
      "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\nDTSTART:20260501\nEND:VEVENT\nBEGIN:VEVENT\nUID:1\nDTSTART:"
      "20260501\n"
      "END:VEVENT\nBEGIN:VEVENT\nUID:2\nSUMMARY:b\nDTSTART:20260501\nEND:VEVENT\nBEGIN:VEVENT\nUID:"
      "2\nSUMMARY:c\n"
      "DTSTART:20260501\nEND:VEVENT\nEND:VCALENDAR\n",
      "UTC");

  EXPECT_EQ(std::get<MethodFailure>(items[0]).message, "UID is missing");
  EXPECT_EQ(std::get<MethodFailure>(items[1]).message, "SUMMARY is missing or blank");
  EXPECT_EQ(std::get<ImportedEvent>(items[2]).event.title, "b");
  EXPECT_EQ(std::get<MethodFailure>(items[3]).message, "UID is that of an earlier event of the file");
}

}  // namespace
}  // namespace runnel::modules::calendar
