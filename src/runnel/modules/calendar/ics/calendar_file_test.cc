#include "runnel/modules/calendar/ics/calendar_file.h"

#include <gtest/gtest.h>

namespace runnel::modules::calendar {
namespace {

std::string calendar(std::string const& inside) {
  return "BEGIN:VCALENDAR\r\n" + inside + "END:VCALENDAR\r\n";
}

std::string file_event(std::string const& inside) {
  return "BEGIN:VEVENT\r\n" + inside + "END:VEVENT\r\n";
}

CalendarFile read(std::string const& file) {
  return std::get<CalendarFile>(read_calendar_file(file));
}

std::string file_failure(std::string const& file) {
  auto const read = read_calendar_file(file);
  auto const* const failed = std::get_if<MethodFailure>(&read);
  return failed == nullptr ? "" : failed->code + " " + failed->message;
}

TEST(CalendarFile, TOOL_12_EventsHaveTheirPropertiesAndAlarms) {
  auto const file = read(calendar(
      "VERSION:2.0\r\n" +
      file_event("SUMMARY:Tea\r\nX-OTHER:1\r\nATTENDEE;CN=Bob:mailto:bob@example.com\r\nBEGIN:VALARM\r\n"
                 "TRIGGER:-PT15M\r\nSUMMARY:no\r\nEND:VALARM\r\nUID:1\r\n") +
      "BEGIN:VTODO\r\nSUMMARY:no event\r\nEND:VTODO\r\n" + file_event("UID:2\r\n")));

  ASSERT_EQ(file.events.size(), 2U);
  auto const& first = file.events[0];
  EXPECT_EQ(first.properties.size(), 2U);
  EXPECT_EQ(first.find("SUMMARY")->value, "Tea");
  EXPECT_EQ(first.find("UID")->value, "1");
  ASSERT_EQ(first.triggers.size(), 1U);
  EXPECT_EQ(first.triggers[0].value, "-PT15M");
  EXPECT_EQ(file.events[1].find("SUMMARY"), nullptr);
}

TEST(CalendarFile, TOOL_12_ZonesHaveTheirLocations) {
  auto const file =
      read(calendar("BEGIN:VTIMEZONE\r\nTZID:Mine\r\nX-LIC-LOCATION:Europe/Berlin\r\nEND:VTIMEZONE\r\n"
                    "BEGIN:VTIMEZONE\r\nTZID:Other\r\nEND:VTIMEZONE\r\n"));

  EXPECT_EQ(file.locations, (std::map<std::string, std::string>{{"Mine", "Europe/Berlin"}}));
}

TEST(CalendarFile, TOOL_12_BrokenStructureIsRefusedWithItsLine) {
  EXPECT_EQ(file_failure(""), "INVALID_CALENDAR the file must begin with BEGIN:VCALENDAR");
  EXPECT_EQ(file_failure("{}"), "INVALID_CALENDAR line 1: the file must begin with BEGIN:VCALENDAR");
  EXPECT_EQ(file_failure("BEGIN:VEVENT\r\nEND:VEVENT\r\n"),
            "INVALID_CALENDAR line 1: a file must consist of VCALENDAR components that are not nested");
  EXPECT_EQ(file_failure("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\n"),
            "INVALID_CALENDAR the file ends before END:VEVENT");
  EXPECT_EQ(file_failure("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nEND:VCALENDAR\r\n"),
            "INVALID_CALENDAR line 3: END does not name the component that was begun last");
  EXPECT_EQ(file_failure("BEGIN:VCALENDAR\r\nBEGIN:\r\n"),
            "INVALID_CALENDAR line 2: BEGIN must be followed by the name of a component");
  EXPECT_EQ(file_failure(calendar(file_event(file_event("")))),
            "INVALID_CALENDAR line 3: a VEVENT must stand directly in a VCALENDAR");
  EXPECT_EQ(file_failure(calendar("") + "END:VCALENDAR\r\n"),
            "INVALID_CALENDAR line 3: END does not name the component that was begun last");
  EXPECT_EQ(file_failure(std::string{"BEGIN:VCALENDAR\r\n\0", 18}),
            "INVALID_CALENDAR the file has a NUL character");
}

TEST(CalendarFile, TOOL_12_DeepNestingAndTooManyEventsAreRefused) {
  std::string deep = "BEGIN:VCALENDAR\r\n";
  for (int i = 0; i < 100'000; ++i)
    deep += "BEGIN:X-A\r\n";
  std::string many;
  for (int i = 0; i < 10'000; ++i)
    many += file_event("");

  EXPECT_EQ(file_failure(deep), "INVALID_CALENDAR line 9: components may be nested 8 deep at most");
  EXPECT_EQ(file_failure(calendar(many)),
            "TOO_MANY_EVENTS the file has more than 1000 events; import it in parts");
}

TEST(CalendarFile, TOOL_12_WhatIsWrongInAnEventIsAFaultOfThisEvent) {
  std::string const long_line = "DESCRIPTION:" + std::string(1'000'000, 'x') + "\r\n";
  std::string exdates;
  for (int i = 0; i < 21; ++i)
    exdates += "EXDATE;TZID=" + std::to_string(i) + ":20260501\r\n";

  auto const file = read(calendar(file_event("nonsense\r\n") + file_event(long_line) +
                                  file_event("SUMMARY:\xFF\r\n") + file_event("SUMMARY:a\x01\r\n") +
                                  file_event("SUMMARY:a\rb\r\n") + file_event(exdates + "nonsense\r\n") +
                                  file_event("SUMMARY:a\tb\r\nX-B:\xFF\r\nATTACH:" + long_line)));

  EXPECT_EQ(file.events[0].fault, "line 3 of the file is not a property");
  EXPECT_EQ(file.events[1].fault, "DESCRIPTION is longer than 65536 bytes");
  EXPECT_EQ(file.events[2].fault, "SUMMARY is not UTF-8");
  EXPECT_EQ(file.events[3].fault, "SUMMARY has a control character");
  EXPECT_EQ(file.events[4].fault, "SUMMARY has a control character");
  EXPECT_EQ(file.events[5].fault, "EXDATE has more than 20 time zones");
  EXPECT_EQ(file.events[5].properties.size(), 0U);
  EXPECT_EQ(file.events[6].fault, "");
}

TEST(CalendarFile, HTTP_9_LinesThatTellNothingNewAreNotKept) {
  std::string lines = "EXDATE:\r\n";
  for (int i = 0; i < 10'000; ++i)
    lines += "SUMMARY:" + std::to_string(i) +
             "\r\nTRIGGER:x\r\nBEGIN:VALARM\r\nTRIGGER:" + std::to_string(i) +
             "\r\nTRIGGER:x\r\nUID:x\r\nEND:VALARM\r\nEXDATE:a,\r\nEXDATE;TZID=x:b\r\nEXDATE:c\r\n";

  auto const event = read(calendar(file_event(lines))).events.at(0);

  ASSERT_EQ(event.properties.size(), 4U);
  EXPECT_EQ(event.find("SUMMARY")->value, "0");
  EXPECT_EQ(event.count("SUMMARY"), 2U);
  EXPECT_EQ(event.count("EXDATE"), 2U);
  EXPECT_TRUE(event.find("EXDATE")->value.starts_with("a,c,a,c,a,c"));
  EXPECT_EQ(event.find("EXDATE")->value.size(), 39'999U);
  ASSERT_EQ(event.triggers.size(), 20U);
  EXPECT_EQ(event.triggers[1].value, "1");
}

}  // namespace
}  // namespace runnel::modules::calendar
