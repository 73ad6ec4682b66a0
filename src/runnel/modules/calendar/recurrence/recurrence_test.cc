#include "runnel/modules/calendar/recurrence/recurrence.h"

#include <gtest/gtest.h>

#include "runnel/core/time/instant.h"

namespace runnel::modules::calendar {
namespace {

using Texts = std::vector<std::string>;

std::int64_t at(std::string const& text) {
  return parse_instant(text).value();
}

Event series_at(std::string const& zone, std::string const& start, std::string const& rrule) {
  Event event;
  event.timezone = zone;
  event.all_day = start.size() == 10;
  event.span.start_at = at(start);
  event.span.end_at = event.span.start_at + (event.all_day ? kDayMs : kHourMs);
  event.rrule = rrule;
  return event;
}

Event complete(Event event) {
  auto const failure = complete_series(event);
  EXPECT_FALSE(failure) << failure->message;
  return event;
}

// The starts in the span, to the minute.
Texts starts_in(Event const& series, std::string const& from, std::string const& to) {
  Texts out;
  for (auto const start : occurrences_in(series, {at(from), at(to)}, 1000).starts)
    out.push_back(to_rfc3339(start).substr(0, 16));
  return out;
}

std::string problem(Event event) {
  auto const failure = complete_series(event);
  return failure ? failure->message : "";
}

TEST(Recurrence, TOOL_12_MeetingStaysAtItsWallTimeWhenBerlinChangesItsClocks) {
  auto const series = complete(series_at("Europe/Berlin", "2026-10-23T09:00:00+02:00", "FREQ=DAILY"));

  EXPECT_EQ(starts_in(series, "2026-10-24T00:00:00Z", "2026-10-27T00:00:00Z"),
            (Texts{"2026-10-24T07:00", "2026-10-25T08:00", "2026-10-26T08:00"}));
  EXPECT_EQ(starts_in(series, "2027-03-27T00:00:00Z", "2027-03-29T00:00:00Z"),
            (Texts{"2027-03-27T08:00", "2027-03-28T07:00"}));
}

TEST(Recurrence, TOOL_12_TimeThatBerlinSkipsIsTheFirstMomentAfterAndOneThatComesTwiceTheFirst) {
  auto const series = complete(series_at("Europe/Berlin", "2026-03-01T02:30:00+01:00", "FREQ=DAILY"));

  EXPECT_EQ(starts_in(series, "2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z"),
            (Texts{"2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"}));
  EXPECT_EQ(starts_in(series, "2026-10-24T00:00:00Z", "2026-10-27T00:00:00Z"),
            (Texts{"2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"}));
}

TEST(Recurrence, TOOL_12_GapAndFoldOfNewYork) {
  auto const series =
      complete(series_at("America/New_York", "2026-01-04T02:15:00-05:00", "FREQ=WEEKLY;BYDAY=SU"));

  EXPECT_EQ(starts_in(series, "2026-03-01T00:00:00Z", "2026-03-16T00:00:00Z"),
            (Texts{"2026-03-01T07:15", "2026-03-08T07:00", "2026-03-15T06:15"}));
  auto const folded = complete(series_at("America/New_York", "2026-10-25T01:30:00-04:00", "FREQ=WEEKLY"));
  EXPECT_EQ(starts_in(folded, "2026-11-01T00:00:00Z", "2026-11-09T00:00:00Z"),
            (Texts{"2026-11-01T05:30", "2026-11-08T06:30"}));
}

TEST(Recurrence, TOOL_12_LordHoweChangesItsClocksByHalfAnHour) {
  auto const gap = complete(series_at("Australia/Lord_Howe", "2026-10-02T02:15:00+10:30", "FREQ=DAILY"));
  auto const fold = complete(series_at("Australia/Lord_Howe", "2026-04-03T01:45:00+11:00", "FREQ=DAILY"));

  EXPECT_EQ(starts_in(gap, "2026-10-02T12:00:00Z", "2026-10-05T00:00:00Z"),
            (Texts{"2026-10-02T15:45", "2026-10-03T15:30", "2026-10-04T15:15"}));
  EXPECT_EQ(starts_in(fold, "2026-04-03T12:00:00Z", "2026-04-06T00:00:00Z"),
            (Texts{"2026-04-03T14:45", "2026-04-04T14:45", "2026-04-05T15:15"}));
}

TEST(Recurrence, TOOL_12_SecondOfTwoSameWallTimesIsTheFirstOccurrenceIfItIsTheStart) {
  auto const series = complete(series_at("Europe/Berlin", "2026-10-25T02:30:00+01:00", "FREQ=DAILY"));

  EXPECT_EQ(starts_in(series, "2026-10-25T00:00:00Z", "2026-10-27T00:00:00Z"),
            (Texts{"2026-10-25T01:30", "2026-10-26T01:30"}));
}

TEST(Recurrence, TOOL_12_DayThatAZoneSkipsHasNoOccurrenceOfItsOwn) {
  // Apia had no 30 December 2011.
  auto const series = complete(series_at("Pacific/Apia", "2011-12-28T00:00:00-10:00", "FREQ=DAILY"));

  EXPECT_EQ(starts_in(series, "2011-12-28T00:00:00Z", "2012-01-01T00:00:00Z"),
            (Texts{"2011-12-28T10:00", "2011-12-29T10:00", "2011-12-30T10:00", "2011-12-31T10:00"}));
}

TEST(Recurrence, TOOL_12_WholeDaysHaveDatesAndNoZone) {
  auto const series = complete(series_at("Asia/Tokyo", "2026-03-27", "FREQ=DAILY;UNTIL=20260330"));

  EXPECT_EQ(starts_in(series, "2026-03-29", "2027-01-01"), (Texts{"2026-03-29T00:00", "2026-03-30T00:00"}));
  EXPECT_EQ(to_rfc3339(series.series_end_at), "2026-03-31T00:00:00.000Z");
}

TEST(Recurrence, TOOL_12_UntilIncludesTheInstantItself) {
  auto const until = [](std::string const& instant) {
    auto const series =
        complete(series_at("Europe/Berlin", "2026-05-01T09:00:00+02:00", "FREQ=DAILY;UNTIL=" + instant));
    return starts_in(series, "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z");
  };

  EXPECT_EQ(until("20260502T070000Z"), (Texts{"2026-05-01T07:00", "2026-05-02T07:00"}));
  EXPECT_EQ(until("20260502T065959Z"), Texts{"2026-05-01T07:00"});
  EXPECT_EQ(until("20260501T070000Z"), Texts{"2026-05-01T07:00"});
}

TEST(Recurrence, TOOL_12_CountEndsASeriesAndCountsTheStartThatTheRuleDoesNotName) {
  // The first of May 2026 is a Friday.
  auto const named = complete(series_at("UTC", "2026-05-01T09:00:00Z", "FREQ=WEEKLY;BYDAY=FR,MO;COUNT=3"));
  auto const other = complete(series_at("UTC", "2026-05-01T09:00:00Z", "FREQ=WEEKLY;BYDAY=MO;COUNT=3"));

  EXPECT_EQ(starts_in(named, "2026-05-01T00:00:00Z", "2026-12-01T00:00:00Z"),
            (Texts{"2026-05-01T09:00", "2026-05-04T09:00", "2026-05-08T09:00"}));
  EXPECT_EQ(starts_in(other, "2026-05-01T00:00:00Z", "2026-12-01T00:00:00Z"),
            (Texts{"2026-05-01T09:00", "2026-05-04T09:00", "2026-05-11T09:00"}));
  EXPECT_EQ(to_rfc3339(other.series_end_at), "2026-05-11T10:00:00.000Z");
}

TEST(Recurrence, TOOL_12_ExceptionsDoNotTakePlace) {
  auto series = series_at("UTC", "2026-05-01T09:00:00Z", "FREQ=DAILY;COUNT=4");
  series.exdates = {at("2026-05-03T09:00:00Z"), at("2026-05-01T09:00:00Z"), at("2026-05-03T09:00:00Z")};

  series = complete(series);

  EXPECT_EQ(starts_in(series, "2026-05-01T00:00:00Z", "2026-12-01T00:00:00Z"),
            (Texts{"2026-05-02T09:00", "2026-05-04T09:00"}));
  EXPECT_FALSE(has_occurrence_at(series, at("2026-05-01T09:00:00Z")));
  EXPECT_TRUE(has_occurrence_at(series, at("2026-05-02T09:00:00Z")));
  EXPECT_FALSE(has_occurrence_at(series, at("2026-05-02T09:00:01Z")));
  EXPECT_FALSE(has_occurrence_at(series, at("2026-05-05T09:00:00Z")));
}

TEST(Recurrence, TOOL_12_SeriesOfWhichNothingIsLeftHasNoOccurrence) {
  auto series = complete(series_at("UTC", "2026-05-01", "FREQ=DAILY;COUNT=2"));
  EXPECT_TRUE(may_have_occurrences(series));

  series.exdates = {at("2026-05-01")};
  EXPECT_TRUE(may_have_occurrences(series));
  series.exdates.push_back(at("2026-05-02"));
  EXPECT_FALSE(may_have_occurrences(series));
}

TEST(Recurrence, TOOL_12_OccurrenceIsInASpanAsLongAsItLasts) {
  auto series = series_at("UTC", "2026-05-01T09:00:00Z", "FREQ=MONTHLY");
  series.span.end_at += 3 * kDayMs;
  series = complete(series);

  EXPECT_EQ(starts_in(series, "2026-07-04T09:59:59Z", "2026-07-05T00:00:00Z"), Texts{"2026-07-01T09:00"});
  EXPECT_EQ(starts_in(series, "2026-07-04T10:00:00Z", "2026-07-05T00:00:00Z"), Texts{});
  EXPECT_EQ(starts_in(series, "2026-07-01T08:00:00Z", "2026-07-01T09:00:00Z"), Texts{});
}

TEST(Recurrence, TOOL_12_ExceptionsMoveWithTheStartOnTheWall) {
  auto before = series_at("Europe/Berlin", "2026-03-27T09:00:00+01:00", "FREQ=DAILY;COUNT=4");
  before.exdates = {at("2026-03-27T09:00:00+01:00"), at("2026-03-29T09:00:00+02:00")};
  before = complete(before);
  auto moved = before;
  moved.span = {at("2026-03-27T02:30:00+01:00"), at("2026-03-27T03:00:00+01:00")};
  ASSERT_FALSE(complete_series(moved));

  move_exdates(moved, before);

  EXPECT_EQ(moved.exdates, (std::vector{at("2026-03-27T02:30:00+01:00"), at("2026-03-29T01:00:00Z")}));
  auto back = moved;
  back.span = before.span;
  ASSERT_FALSE(complete_series(back));
  move_exdates(back, moved);
  EXPECT_EQ(back.exdates, before.exdates);
}

TEST(Recurrence, TOOL_12_ExceptionsThatNameNothingAnyMoreAreDropped) {
  auto before = series_at("UTC", "2026-05-01T09:00:00Z", "FREQ=DAILY");
  before.exdates = {at("2026-05-02T09:00:00Z"), at("2026-05-08T09:00:00Z")};
  before = complete(before);
  auto weekly = before;
  weekly.rrule = "FREQ=WEEKLY";
  ASSERT_FALSE(complete_series(weekly));

  move_exdates(weekly, before);

  EXPECT_EQ(weekly.exdates, std::vector{at("2026-05-08T09:00:00Z")});
}

TEST(Recurrence, TOOL_12_RuleThatNamesNoDayIsRefused) {
  for (auto const* const rule :
       {"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=MONTHLY;BYDAY=6MO",
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=300", "FREQ=YEARLY;BYYEARDAY=366;BYMONTH=1",
        "FREQ=DAILY;BYDAY=MO;BYSETPOS=2", "FREQ=WEEKLY;BYDAY=FR;UNTIL=20260504T000000Z;INTERVAL=2;BYMONTH=6"})
    EXPECT_EQ(problem(series_at("UTC", "2026-05-01T09:00:00Z", rule)),
              "rrule must name a day on or after the start of the event; this one names none")
        << rule;
}

TEST(Recurrence, TOOL_12_RuleMustFitItsEvent) {
  EXPECT_EQ(problem(series_at("UTC", "2026-05-01T09:00:00Z", "FREQ=DAILY;UNTIL=20260501T085959Z")),
            "rrule must have an UNTIL that is not before the start of the event");
  EXPECT_EQ(
      problem(series_at("UTC", "2026-05-01T09:00:00Z", "FREQ=DAILY;UNTIL=20260601")),
      "rrule UNTIL must be an instant in UTC such as 20261231T235959Z, because the event is at a time of "
      "day");
  EXPECT_EQ(problem(series_at("UTC", "2026-05-01T09:00:00Z", "FREQ=YEARLY;COUNT=999;BYYEARDAY=366")),
            "rrule has occurrences that are too far apart for its COUNT; use a smaller one");
}

TEST(Recurrence, TOOL_12_NothingHappensAfterTheYear9999) {
  auto const series = complete(series_at("UTC", "9999-12-30", "FREQ=DAILY;COUNT=9"));

  EXPECT_EQ(starts_in(series, "9999-12-30", "9999-12-31"), Texts{"9999-12-30T00:00"});
  EXPECT_EQ(to_rfc3339(series.series_end_at), "9999-12-31T00:00:00.000Z");
}

TEST(Recurrence, HTTP_9_OldEndlessSeriesIsReadInFewSteps) {
  for (auto const* const rule :
       {"FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;INTERVAL=2",
        "FREQ=YEARLY;BYDAY=MO;BYSETPOS=-1", "FREQ=YEARLY;BYWEEKNO=20", "FREQ=MONTHLY;INTERVAL=7",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO"}) {
    auto const series = complete(series_at("Europe/Berlin", "1970-01-02T09:00:00Z", rule));

    EXPECT_LT(occurrences_in(series, {at("2026-05-01"), at("2026-05-08")}, 1000).steps, 1'500) << rule;
    EXPECT_LT(occurrences_in(series, {at("2026-05-01"), at("2027-05-01")}, 1000).steps, 6'000) << rule;
  }
}

}  // namespace
}  // namespace runnel::modules::calendar
