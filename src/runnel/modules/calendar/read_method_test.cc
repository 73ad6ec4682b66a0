#include <gtest/gtest.h>

#include "runnel/modules/calendar/methods.h"
#include "runnel/modules/calendar/testing/calendar_under_test.h"

namespace runnel::modules::calendar {
namespace {

constexpr char kRead[] = "calendar.read";

std::string day(std::string const& date) {
  return R"({"mode":"day","date":")" + date + R"("})";
}

std::string range(std::string const& start, std::string const& end) {
  return R"({"mode":"range","start_at":")" + start + R"(","end_at":")" + end + R"("})";
}

std::string one(std::string const& id) {
  return R"({"mode":"event","event_id":")" + id + R"("})";
}

class CalendarRead : public CalendarUnderTest {
 protected:
  // The titles of the events that are shown.
  std::vector<std::string> titles(std::string const& input, std::string user = "ann") {
    std::vector<std::string> out;
    auto const data = done(kRead, input, std::move(user));
    for (auto const& item : data.at("items").as_array())
      out.emplace_back(item.at("title").as_string());
    EXPECT_EQ(data.at("count"), static_cast<std::int64_t>(out.size()));
    return out;
  }
  // Adds `count` events of one second, one after the other, from the start of 2026-05-01 in UTC on.
  void create_many(int count) {
    std::vector<store::SqlStatement> effects;
    for (int i = 0; i < count; ++i) {
      Event event;
      event.id = "evt_" + std::to_string(i);
      event.title = "x";
      event.span = {1'777'593'600'000 + i * 1000, 1'777'593'601'000 + i * 1000};
      event.timezone = "UTC";
      effects.push_back(add_event(UserId{"ann"}, event, kCalledAt));
    }
    run_async(database.write(std::move(effects))).value();
  }
};

using Titles = std::vector<std::string>;

TEST_F(CalendarRead, TOOL_12_ItemsHaveWhatANextCallNeeds) {
  auto const bare = create("Tea", "2026-05-01T09:00:00+02:00", "2026-05-01T10:00:00+02:00");
  auto const full = create(
      R"({"title":"晨会 \"x\" 👩‍👩‍👧","start_at":"2026-05-01T07:30:00.25Z","end_at":"2026-05-02T00:00:00Z",)"
      R"("timezone":"Europe/Berlin","location":"Café","description":"Two\nlines"})");

  auto const result = std::get<MethodResult>(call(kRead, day("2026-05-01")));

  EXPECT_TRUE(result.effect.empty());
  EXPECT_EQ(
      result.data,
      R"({"items":[{"event_id":")" + bare +
          R"(","title":"Tea","start_at":"2026-05-01T07:00:00.000Z","end_at":"2026-05-01T08:00:00.000Z",)"
          R"("timezone":"Asia/Shanghai"},{"event_id":")" +
          full +
          R"(","title":"晨会 \"x\" 👩‍👩‍👧","start_at":"2026-05-01T07:30:00.250Z",)"
          R"("end_at":"2026-05-02T00:00:00.000Z","timezone":"Europe/Berlin","location":"Café",)"
          R"("description":"Two\nlines"}],"count":2})");
}

TEST_F(CalendarRead, TOOL_12_EmptyTimeHasNoItems) {
  EXPECT_EQ(std::get<MethodResult>(call(kRead, day("2026-05-01"))).data, R"({"items":[],"count":0})");
}

TEST_F(CalendarRead, TOOL_12_DayIsOneOfTheUsersTimeZone) {
  create("before", "2026-04-30T15:00:00Z", "2026-04-30T16:00:00Z");
  create("first", "2026-04-30T16:00:00Z", "2026-04-30T16:00:01Z");
  create("last", "2026-05-01T15:59:59Z", "2026-05-01T17:00:00Z");
  create("after", "2026-05-01T16:00:00Z", "2026-05-01T17:00:00Z");

  EXPECT_EQ(titles(day("2026-05-01")), (Titles{"first", "last"}));
  preferences.timezone = "Mars/Base";
  EXPECT_EQ(titles(day("2026-04-30")), (Titles{"before", "first"})) << "an unknown zone is read as UTC";
}

TEST_F(CalendarRead, TOOL_12_DayOnWhichClocksChangeHas23Or25Hours) {
  preferences.timezone = "Europe/Berlin";
  create("sat", "2026-03-28T22:59:59Z", "2026-03-28T23:00:00Z");
  create("sun-first", "2026-03-28T23:00:00Z", "2026-03-28T23:00:01Z");
  create("sun-last", "2026-03-29T21:59:59Z", "2026-03-29T22:00:00Z");
  create("mon", "2026-03-29T22:00:00Z", "2026-03-29T22:00:01Z");
  create("october-first", "2026-10-24T22:00:00Z", "2026-10-24T22:00:01Z");
  create("october-last", "2026-10-25T22:59:59Z", "2026-10-25T23:00:00Z");
  create("october-after", "2026-10-25T23:00:00Z", "2026-10-25T23:00:01Z");

  EXPECT_EQ(titles(day("2026-03-28")), Titles{"sat"});
  EXPECT_EQ(titles(day("2026-03-29")), (Titles{"sun-first", "sun-last"}));
  EXPECT_EQ(titles(day("2026-03-30")), Titles{"mon"});
  EXPECT_EQ(titles(day("2026-10-25")), (Titles{"october-first", "october-last"}));
}

TEST_F(CalendarRead, TOOL_12_DayThatAZoneHasSkippedIsEmpty) {
  preferences.timezone = "Pacific/Apia";
  create("over the date line", "2011-12-30T09:00:00Z", "2011-12-30T11:00:00Z");

  EXPECT_EQ(titles(day("2011-12-29")), Titles{"over the date line"});
  EXPECT_EQ(titles(day("2011-12-30")), Titles{});
  EXPECT_EQ(titles(day("2011-12-31")), Titles{"over the date line"});
}

TEST_F(CalendarRead, TOOL_12_FirstAndLastDayCanBeRead) {
  create("first", "1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z");
  create("last", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z");
  preferences.timezone = "UTC";

  EXPECT_EQ(titles(day("1970-01-01")), Titles{"first"});
  EXPECT_EQ(titles(day("9999-12-31")), Titles{"last"});
}

TEST_F(CalendarRead, TOOL_12_RangeShowsWhatOverlapsIt) {
  create("ends-at-start", "2026-05-01T08:00:00Z", "2026-05-01T09:00:00Z");
  create("into", "2026-05-01T08:00:00Z", "2026-05-01T09:00:00.001Z");
  create("around", "2026-04-01T00:00:00Z", "2026-06-01T00:00:00Z");
  create("out of", "2026-05-01T09:59:59.999Z", "2026-05-01T11:00:00Z");
  create("starts-at-end", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z");

  EXPECT_EQ(titles(range("2026-05-01T11:00:00+02:00", "2026-05-01T10:00:00Z")),
            (Titles{"around", "into", "out of"}));
}

TEST_F(CalendarRead, TOOL_12_RangeIsNotTheUsersTimeZone) {
  create("tea", "2026-05-01T08:00:00Z", "2026-05-01T09:00:00Z");

  for (auto const* zone : {"Asia/Shanghai", "America/New_York"}) {
    preferences.timezone = zone;
    EXPECT_EQ(titles(range("2026-05-01T08:59:59Z", "2026-05-01T10:00:00Z")), Titles{"tea"}) << zone;
    EXPECT_EQ(titles(range("2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z")), Titles{}) << zone;
  }
}

TEST_F(CalendarRead, TOOL_6_ListIsShownAsAWholeOrNotAtAll) {
  preferences.timezone = "UTC";
  create_many(201);

  EXPECT_EQ(failure(kRead, day("2026-05-01")),
            "TOO_MANY_RESULTS: there are more than 200 events in this time; narrow the range");
  EXPECT_EQ(failure(kRead, range("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z")),
            "TOO_MANY_RESULTS: there are more than 200 events in this time; narrow the range");
  EXPECT_EQ(titles(range("2026-05-01T00:00:01Z", "2026-05-02T00:00:00Z")).size(), 200U);
}

TEST_F(CalendarRead, TOOL_12_OneEventIsShownByItsId) {
  auto const id = create("Tea", "2026-05-01T07:00:00Z", "2026-05-01T08:00:00Z");
  create("Cake", "2026-05-01T07:00:00Z", "2026-05-01T08:00:00Z");

  EXPECT_EQ(titles(one(id)), Titles{"Tea"});
}

TEST_F(CalendarRead, HTTP_3_AnothersEventIsLikeOneThatDoesNotExist) {
  auto const id = create("Tea", "2026-05-01T07:00:00Z", "2026-05-01T08:00:00Z");

  EXPECT_EQ(failure(kRead, one(id), "bob"), "NOT_FOUND: the user has no event with this event_id");
  EXPECT_EQ(failure(kRead, one("evt_none"), "bob"), failure(kRead, one(id), "bob"));
  EXPECT_EQ(failure(kRead, one("' OR 1=1 --")), failure(kRead, one(id), "bob"));
  EXPECT_EQ(titles(day("2026-05-01"), "bob"), Titles{});
  EXPECT_EQ(titles(range("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"), "bob"), Titles{});
}

TEST_F(CalendarRead, TOOL_4_EachModeHasItsOwnFields) {
  for (auto const* input :
       {"{}", R"({"mode":"week"})", R"({"mode":5})", R"({"date":"2026-05-01"})", R"({"mode":"day"})",
        R"({"mode":"day","date":null})", R"({"mode":"day","date":"2026-05-01","limit":3})",
        R"({"mode":"day","date":"2026-05-01","event_id":"x"})", R"({"mode":"day","event_id":"x"})",
        R"({"mode":"range","start_at":"2026-05-01T00:00:00Z"})", R"({"mode":"range","date":"2026-05-01"})",
        R"({"mode":"event"})", R"({"mode":"event","event_id":""})", R"({"mode":"event","event_id":7})",
        R"({"mode":"event","event_id":"x","user":"bob"})"}) {
    EXPECT_NE(fault(kRead, input), "") << input;
  }
  EXPECT_EQ(fault(kRead, R"({"mode":"week"})"), "/mode: must be one of day, range, event or invites");
  EXPECT_EQ(fault(kRead, R"({"mode":"day"})"), "/date: is required");
  EXPECT_EQ(fault(kRead, R"({"mode":"event","event_id":"x","limit":3})"),
            "/limit: is not known; known: mode, event_id");
  EXPECT_EQ(fault(kRead, R"({"mode":"invites","date":"2026-05-01"})"), "/date: is not known; known: mode");
}

TEST_F(CalendarRead, TOOL_4_DayIsADateThatExists) {
  for (auto const* date : {"", "2026-5-1", "2026-02-29", "2026-13-01", "01.05.2026", "2026-05-01T00:00:00Z",
                           "today", "20260501"}) {
    EXPECT_EQ(failure(kRead, day(date)),
              "INVALID_ACTION_INPUT: date must be a date that exists, as YYYY-MM-DD, such as 2026-05-01")
        << date;
  }
  EXPECT_EQ(failure(kRead, day("1969-12-31")),
            "INVALID_ACTION_INPUT: date must be in the years 1970 to 9999");
}

TEST_F(CalendarRead, TOOL_4_RangeIsTwoInstantsInOrderWithin366Days) {
  constexpr char kFrom[] = "2026-05-01T00:00:00Z";
  EXPECT_TRUE(failure(kRead, range("2026-05-01", "2026-05-02T00:00:00Z"))
                  .starts_with("INVALID_ACTION_INPUT: start_at must be an RFC 3339 instant"));
  EXPECT_TRUE(failure(kRead, range(kFrom, "2026-05-02T00:00:00"))
                  .starts_with("INVALID_ACTION_INPUT: end_at must be an RFC 3339 instant"));
  EXPECT_EQ(failure(kRead, range(kFrom, kFrom)), "INVALID_ACTION_INPUT: end_at must be after start_at");
  EXPECT_EQ(failure(kRead, range(kFrom, "2027-05-02T00:00:01Z")),
            "INVALID_ACTION_INPUT: end_at must be at most 366 days after start_at");
  EXPECT_EQ(failure(kRead, range("1969-12-31T00:00:00Z", "1970-01-02T00:00:00Z")),
            "INVALID_ACTION_INPUT: start_at must be in the years 1970 to 9999, counted in UTC");
  EXPECT_EQ(titles(range(kFrom, "2027-05-02T00:00:00Z")), Titles{});
}

}  // namespace
}  // namespace runnel::modules::calendar
