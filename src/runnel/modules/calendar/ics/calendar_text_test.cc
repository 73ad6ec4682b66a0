#include "runnel/modules/calendar/ics/calendar_text.h"

#include <gtest/gtest.h>

#include "runnel/modules/calendar/ics/zone_component.h"

namespace runnel::modules::calendar {
namespace {

constexpr std::int64_t kFirstOfMay = 1'777'618'800'000;  // 2026-05-01T07:00:00Z

ExportedEvent tea() {
  ExportedEvent out;
  out.uid = "evt_1";
  out.sequence = 2;
  out.event.title = "Tea";
  out.event.span = {kFirstOfMay, kFirstOfMay + kHourMs};
  out.event.timezone = "UTC";
  out.event.created_at = kFirstOfMay - kDayMs;
  out.event.updated_at = kFirstOfMay - kHourMs;
  return out;
}

std::string text_of(ExportedEvent const& exported) {
  return event_component(exported);
}

bool has_line(std::string const& text, std::string const& line) {
  return text.find("\r\n" + line + "\r\n") != std::string::npos;
}

TEST(EventComponent, TOOL_12_HasWhatAnEventHas) {
  auto exported = tea();
  exported.event.location = "Room 3";
  exported.event.reminders = "[10,1440]";

  EXPECT_EQ(
      text_of(exported),
      "BEGIN:VEVENT\r\nUID:evt_1\r\nDTSTAMP:20260501T060000Z\r\nCREATED:20260430T070000Z\r\n"
      "LAST-MODIFIED:20260501T060000Z\r\nSEQUENCE:2\r\nSUMMARY:Tea\r\nLOCATION:Room 3\r\n"
      "DTSTART:20260501T070000Z\r\nDTEND:20260501T080000Z\r\n"
      "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:Tea\r\nTRIGGER:-PT10M\r\nEND:VALARM\r\n"
      "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:Tea\r\nTRIGGER:-P1D\r\nEND:VALARM\r\nEND:VEVENT\r\n");
}

TEST(EventComponent, TOOL_12_WholeDaysAreDates) {
  auto exported = tea();
  exported.event.all_day = true;
  exported.event.span = {kFirstOfMay - 7 * kHourMs, kFirstOfMay - 7 * kHourMs + 2 * kDayMs};
  exported.event.timezone = "Asia/Tokyo";

  auto const text = text_of(exported);

  EXPECT_TRUE(has_line(text, "DTSTART;VALUE=DATE:20260501")) << text;
  EXPECT_TRUE(has_line(text, "DTEND;VALUE=DATE:20260503")) << text;
  EXPECT_TRUE(has_line(text, "X-RUNNEL-TIMEZONE:Asia/Tokyo")) << text;
}

TEST(EventComponent, TOOL_12_NoTextBreaksOutOfItsProperty) {
  auto exported = tea();
  exported.event.title = "a\r\nEND:VEVENT\rBEGIN:VEVENT\nx\x01\x7f;,\\\"";
  exported.event.description = std::string(300, ' ') + "\r\n END:VCALENDAR";

  auto const text = text_of(exported);

  EXPECT_TRUE(has_line(text, R"(SUMMARY:a\nEND:VEVENT\nBEGIN:VEVENT\nx\;\,\\")")) << text;
  EXPECT_EQ(text.find("END:VEVENT\r\n"), text.rfind("END:VEVENT\r\n"));
  EXPECT_EQ(text.find("\r\nEND:VCALENDAR"), std::string::npos);
  for (auto const c : text)
    EXPECT_TRUE(c < 0 || c >= ' ' || c == '\r' || c == '\n') << static_cast<int>(c);
}

TEST(EventComponent, TOOL_12_TimesReachToTheYear9999) {
  auto exported = tea();
  exported.event.span = {kLastMs - kHourMs, kLastMs};
  exported.event.rrule = "FREQ=DAILY;UNTIL=99991231T235959Z";
  exported.event.exdates = {kLastMs - kHourMs};

  auto const text = text_of(exported);

  EXPECT_TRUE(has_line(text, "DTSTART:99991231T225959Z")) << text;
  EXPECT_TRUE(has_line(text, "DTEND:99991231T235959Z")) << text;
  EXPECT_TRUE(has_line(text, "RRULE:FREQ=DAILY;UNTIL=99991231T235959Z")) << text;
  EXPECT_TRUE(has_line(text, "EXDATE:99991231T225959Z")) << text;
}

// On 1 November 2026 New York has the hour from one to two twice, from 05:00Z and from 06:00Z on.
TEST(EventComponent, TOOL_12_SecondOfTwoHoursIsWrittenWithItsInstantAndLength) {
  constexpr std::int64_t kSecondHalfPastOne = 1'793'514'600'000;  // 2026-11-01T06:30:00Z
  auto exported = tea();
  exported.event.timezone = "America/New_York";
  exported.event.span = {kSecondHalfPastOne, kSecondHalfPastOne + kHourMs};
  exported.event.rrule = "FREQ=WEEKLY";

  auto const starts_then = text_of(exported);
  exported.event.span = {kSecondHalfPastOne - 2 * kHourMs, kSecondHalfPastOne};
  auto const ends_then = text_of(exported);
  exported.event.span = {kSecondHalfPastOne - 2 * kHourMs, kSecondHalfPastOne - kHourMs};
  auto const ends_in_the_first = text_of(exported);

  EXPECT_TRUE(has_line(starts_then, "DTSTART;TZID=America/New_York:20261101T013000")) << starts_then;
  EXPECT_TRUE(has_line(starts_then, "DURATION:PT3600S")) << starts_then;
  EXPECT_TRUE(has_line(starts_then, "X-RUNNEL-START:20261101T063000Z")) << starts_then;
  EXPECT_EQ(starts_then.find("DTEND"), std::string::npos) << starts_then;
  EXPECT_TRUE(has_line(ends_then, "DTSTART;TZID=America/New_York:20261101T003000")) << ends_then;
  EXPECT_TRUE(has_line(ends_then, "DURATION:PT7200S")) << ends_then;
  EXPECT_EQ(ends_then.find("X-RUNNEL-START"), std::string::npos) << ends_then;
  EXPECT_TRUE(has_line(ends_in_the_first, "DTEND;TZID=America/New_York:20261101T013000"))
      << ends_in_the_first;
}

TEST(EventComponent, TOOL_12_LinesAreFolded) {
  auto exported = tea();
  for (int i = 0; i < 100; ++i)
    exported.event.description += "晨🙂";

  auto const text = text_of(exported);

  std::size_t begin = 0;
  for (auto end = text.find("\r\n"); end != std::string::npos;
       begin = end + 2, end = text.find("\r\n", begin))
    EXPECT_LE(end - begin, 75U);
}

TEST(EventComponent, TOOL_12_GuestSeesNoReminders) {
  auto exported = tea();
  exported.event.reminders = "[10]";
  exported.event.invite_id = "inv_1";

  EXPECT_EQ(text_of(exported).find("VALARM"), std::string::npos);
}

TEST(ZoneComponent, TOOL_12_YearlyChangesAreRules) {
  EXPECT_EQ(
      zone_component("Europe/Berlin", kFirstOfMay),
      "BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\nX-LIC-LOCATION:Europe/Berlin\r\n"
      "BEGIN:DAYLIGHT\r\nDTSTART:20260329T020000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nTZNAME:CEST\r\n"
      "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r\nEND:DAYLIGHT\r\n"
      "BEGIN:STANDARD\r\nDTSTART:20261025T030000\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nTZNAME:CET\r\n"
      "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n");
  auto const new_york = zone_component("America/New_York", kFirstOfMay);
  EXPECT_NE(new_york.find("BYMONTH=3;BYDAY=2SU"), std::string::npos) << new_york;
  EXPECT_NE(new_york.find("BYMONTH=11;BYDAY=1SU"), std::string::npos) << new_york;
}

TEST(ZoneComponent, TOOL_12_OtherChangesAreListed) {
  auto const casablanca = zone_component("Africa/Casablanca", kFirstOfMay);
  EXPECT_EQ(casablanca.find("RRULE"), std::string::npos) << casablanca;
  EXPECT_NE(casablanca.find("RDATE:2037"), std::string::npos) << casablanca;
  auto const old_berlin = zone_component("Europe/Berlin", 600'000'000'000);  // 1989
  EXPECT_NE(old_berlin.find("RDATE:19900930T030000"), std::string::npos) << old_berlin;
  EXPECT_NE(old_berlin.find("DTSTART:19961027T030000"), std::string::npos) << old_berlin;
}

TEST(ZoneComponent, TOOL_12_ZoneWithoutChangesHasOneOffset) {
  EXPECT_EQ(zone_component("Asia/Kathmandu", kFirstOfMay),
            "BEGIN:VTIMEZONE\r\nTZID:Asia/Kathmandu\r\nX-LIC-LOCATION:Asia/Kathmandu\r\n"
            "BEGIN:STANDARD\r\nDTSTART:19860101T000000\r\nTZOFFSETFROM:+0530\r\nTZOFFSETTO:+0545\r\nTZNAME:+"
            "0545\r\n"
            "END:STANDARD\r\nEND:VTIMEZONE\r\n");
  EXPECT_EQ(zone_component("Mars/Base", kFirstOfMay), "");
}

TEST(CalendarText, TOOL_12_IsWholeAndSaysIfEventsAreLeftOut) {
  CalendarText some;
  EXPECT_TRUE(some.add({tea(), tea()}));
  EXPECT_NE(some.finish().find("X-WR-CALNAME:Runnel\r\n"), std::string::npos);

  CalendarText many;
  EXPECT_TRUE(many.add(std::vector<ExportedEvent>(kMostFeedEvents, tea())));
  EXPECT_FALSE(many.add({tea()}));
  EXPECT_NE(many.finish().find("X-WR-CALNAME:Runnel (not all events)\r\n"), std::string::npos);

  auto large = tea();
  large.event.description = std::string(4000, 'x');
  CalendarText heavy;
  EXPECT_FALSE(heavy.add(std::vector<ExportedEvent>(1100, large)));
  auto const text = heavy.finish();
  EXPECT_LT(text.size(), kMostFeedBytes + 1024);
  EXPECT_TRUE(text.ends_with("END:VEVENT\r\nEND:VCALENDAR\r\n"));
}

}  // namespace
}  // namespace runnel::modules::calendar
