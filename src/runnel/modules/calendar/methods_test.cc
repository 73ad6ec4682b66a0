#include "runnel/modules/calendar/methods.h"

#include <gtest/gtest.h>

#include <set>

#include "runnel/modules/calendar/commands.h"
#include "runnel/modules/calendar/testing/calendar_under_test.h"

namespace runnel::modules::calendar {
namespace {

constexpr char kTea[] =
    R"({"title":"Tea","start_at":"2026-05-01T09:00:00+02:00","end_at":"2026-05-01T10:00:00+02:00"})";

// The input kTea with one field replaced or added.
std::string tea_with(std::string_view field, boost::json::value value) {
  auto input = boost::json::parse(kTea).as_object();
  input[field] = std::move(value);
  return boost::json::serialize(input);
}

std::string tea_from_to(std::string_view start, std::string_view end) {
  auto input = boost::json::parse(kTea).as_object();
  input["start_at"] = start;
  input["end_at"] = end;
  return boost::json::serialize(input);
}

class CalendarCreate : public CalendarUnderTest {
 protected:
  std::string refused(std::string const& input) { return failure(kCreate, input); }
  std::string fault(std::string const& input) { return CalendarUnderTest::fault(kCreate, input); }
  // The only row in the table.
  std::vector<std::string> row() {
    auto const found = run_async(database.read(store::statement(
        "SELECT owner_id, title, timezone, location, description, start_at, end_at, created_at, updated_at "
        "FROM calendar_events")));
    std::vector<std::string> cells;
    EXPECT_EQ(found.value().size(), 1U);
    for (std::size_t column = 0; column < 5; ++column)
      cells.push_back(found->is_null(0, column) ? "null" : found->text(0, column));
    for (std::size_t column = 5; column < 9; ++column)
      cells.push_back(std::to_string(found->integer(0, column)));
    return cells;
  }
  std::int64_t count() {
    return run_async(database.read(store::statement("SELECT count(*) FROM calendar_events")))
        .value()
        .integer(0, 0);
  }
};

using Row = std::vector<std::string>;

constexpr char kBadStart[] =
    "INVALID_ACTION_INPUT: start_at must be an RFC 3339 instant with Z or an offset from UTC, such as "
    "2026-05-01T09:00:00+02:00";

TEST_F(CalendarCreate, TOOL_12_ProgramAndServerKnowTheSameMethods) {
  std::set<std::string> of_program;
  auto const table = commands();
  for (auto const& known : table.methods)
    of_program.insert(std::string{table.name} + "." + std::string{known.name});
  std::set<std::string> of_server;
  for (auto const& known : methods())
    of_server.emplace(known.name);

  EXPECT_EQ(of_program, of_server);
}

TEST_F(CalendarCreate, TOOL_12_EventIsAddedAsItWasSent) {
  create(
      R"({"mode":"single","title":" 晨会 👩‍👩‍👧 \"x\"\n","start_at":"2026-05-01T09:00:00.250+02:00",)"
      R"("end_at":"2026-05-01t08:00:00z","location":"Café","description":"Two\nlines","timezone":"Europe/Berlin"})");

  EXPECT_EQ(row(),
            (Row{"ann", " 晨会 👩‍👩‍👧 \"x\"\n", "Europe/Berlin", "Café", "Two\nlines",
                 "1777618800250", "1777622400000", std::to_string(kCalledAt), std::to_string(kCalledAt)}));
}

TEST_F(CalendarCreate, TOOL_12_NothingIsWrittenBeforeTheEffectIs) {
  auto const result = std::get<MethodResult>(call(kCreate, kTea));

  EXPECT_EQ(count(), 0);
  ASSERT_EQ(result.effect.size(), 1U);
  EXPECT_EQ(result.effect[0].must_touch, 1);

  run_async(database.write(result.effect)).value();
  run_async(database.write(result.effect)).value();
  EXPECT_EQ(count(), 1);
}

TEST_F(CalendarCreate, V2_2_DataHasTheIdAndTheOutcomeOnly) {
  auto const first = std::get<MethodResult>(call(kCreate, kTea)).data;
  auto const second = std::get<MethodResult>(call(kCreate, kTea)).data;

  auto const data = document(first).as_object();
  auto const id = std::string{data.at("event_id").as_string()};
  EXPECT_EQ(first, R"({"event_id":")" + id + R"(","outcome":"created"})");
  EXPECT_TRUE(id.starts_with("evt_")) << id;
  EXPECT_EQ(id.size(), 40U);
  EXPECT_NE(first, second);
}

TEST_F(CalendarCreate, TOOL_12_EventGetsTheUsersTimeZone) {
  preferences.timezone = "America/New_York";

  create(kTea);

  EXPECT_EQ(row().at(2), "America/New_York");
}

TEST_F(CalendarCreate, TOOL_12_UnknownTimeZoneOfAUserIsUtc) {
  preferences.timezone = "Mars/Base";

  create(kTea);

  EXPECT_EQ(row().at(2), "UTC");
}

TEST_F(CalendarCreate, TOOL_12_EmptyPlaceAndDescriptionAreNone) {
  create(R"({"title":"Tea","start_at":"2026-05-01T07:00:00Z","end_at":"2026-05-01T08:00:00Z",)"
         R"("location":"","description":""})");

  EXPECT_EQ(row().at(3), "null");
  EXPECT_EQ(row().at(4), "null");
}

TEST_F(CalendarCreate, TOOL_4_SchemaIsStrict) {
  EXPECT_EQ(fault(kTea), "");
  EXPECT_EQ(fault("{}"), "/title: is required; /start_at: is required; /end_at: is required");
  EXPECT_EQ(fault(tea_with("mode", "one")), "/mode: must be one of single or batch");
  EXPECT_EQ(fault(tea_with("attendees", boost::json::array{})),
            "/attendees: is not known; known: mode, title, start_at, end_at, all_day, location, description, "
            "timezone, reminders, rrule, exdates");
  EXPECT_EQ(fault(tea_with("title", "")), "/title: must not be empty");
  for (auto const* field : {"title", "start_at", "end_at", "location", "description", "timezone"}) {
    EXPECT_EQ(fault(tea_with(field, nullptr)), "/" + std::string{field} + ": must be a string");
    EXPECT_EQ(fault(tea_with(field, 5)), "/" + std::string{field} + ": must be a string");
  }
}

TEST_F(CalendarCreate, TOOL_4_LengthsAreCountedInCharacters) {
  auto const tea = [](std::size_t count) {
    boost::json::string out;
    for (std::size_t i = 0; i < count; ++i)
      out += "茶";
    return out;
  };
  for (auto const& [field, most] :
       {std::pair{"title", 200U}, std::pair{"location", 200U}, std::pair{"description", 4000U}}) {
    EXPECT_EQ(fault(tea_with(field, tea(most + 1))),
              "/" + std::string{field} + ": must have at most " + std::to_string(most) + " characters");
    create(tea_with(field, tea(most)));
  }
  EXPECT_EQ(count(), 3);
}

TEST_F(CalendarCreate, TOOL_4_BlankTitleIsRefused) {
  for (auto const* title : {" ", "\n\t", "\xE3\x80\x80\xC2\xA0"})
    EXPECT_EQ(refused(tea_with("title", title)), "INVALID_ACTION_INPUT: title must not be blank");
}

TEST_F(CalendarCreate, TOOL_4_InstantsNeedATimeAndAZone) {
  for (auto const* start :
       {"", "2026-05-01", "2026-05-01T09:00:00", "2026-05-01T09:00Z", "2026-02-30T09:00:00Z",
        "2026-05-01T24:00:00Z", "2026-05-01 09:00:00Z", "2026-05-01T09:00:00+0200",
        "2026-05-01T09:00:00 Europe/Berlin", "1777618800", "tomorrow"}) {
    EXPECT_EQ(refused(tea_with("start_at", start)), kBadStart) << start;
  }
  EXPECT_EQ(refused(tea_with("end_at", "2026-05-02")),
            "INVALID_ACTION_INPUT: end_at must be an RFC 3339 instant with Z or an offset from UTC, such as "
            "2026-05-01T09:00:00+02:00");
}

TEST_F(CalendarCreate, TOOL_4_YearsAre1970To9999) {
  constexpr char kYears[] = " must be in the years 1970 to 9999, counted in UTC";
  EXPECT_EQ(refused(tea_from_to("1969-12-31T23:59:59Z", "1970-01-01T00:00:01Z")),
            std::string{"INVALID_ACTION_INPUT: start_at"} + kYears);
  EXPECT_EQ(refused(tea_from_to("1970-01-01T00:00:00+08:00", "1970-01-01T09:00:00+08:00")),
            std::string{"INVALID_ACTION_INPUT: start_at"} + kYears);
  EXPECT_EQ(refused(tea_from_to("9999-12-31T23:00:00Z", "9999-12-31T23:30:00-01:00")),
            std::string{"INVALID_ACTION_INPUT: end_at"} + kYears);

  create(tea_from_to("1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z"));
  create(tea_from_to("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z"));
}

TEST_F(CalendarCreate, TOOL_4_EventEndsAfterItStartsWithin366Days) {
  constexpr char kOrder[] = "INVALID_ACTION_INPUT: end_at must be after start_at";
  EXPECT_EQ(refused(tea_from_to("2026-05-01T09:00:00Z", "2026-05-01T09:00:00Z")), kOrder);
  EXPECT_EQ(refused(tea_from_to("2026-05-01T09:00:00Z", "2026-05-01T10:00:00+02:00")), kOrder);
  EXPECT_EQ(refused(tea_from_to("2026-05-01T00:00:00Z", "2027-05-02T00:00:00.001Z")),
            "INVALID_ACTION_INPUT: end_at must be at most 366 days after start_at");

  create(tea_from_to("2026-05-01T00:00:00Z", "2027-05-02T00:00:00Z"));
}

TEST_F(CalendarCreate, TOOL_4_TimeZoneIsANameInTheDatabase) {
  for (auto const* zone : {"", "Mars/Base", "europe/berlin", "+02:00", "../../etc/passwd", "localtime"}) {
    EXPECT_EQ(
        refused(tea_with("timezone", zone)),
        "INVALID_ACTION_INPUT: timezone must be a time zone in the IANA database, such as Europe/Berlin")
        << zone;
  }
  EXPECT_EQ(count(), 0);
}

}  // namespace
}  // namespace runnel::modules::calendar
