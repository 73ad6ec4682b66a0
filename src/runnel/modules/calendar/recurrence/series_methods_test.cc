#include <string>
#include <vector>

#include "runnel/core/time/instant.h"
#include "runnel/modules/calendar/actions.h"
#include "runnel/modules/calendar/testing/calendar_under_test.h"

// What models can do with events that repeat.
namespace runnel::modules::calendar {
namespace {

namespace json = boost::json;
using Texts = std::vector<std::string>;

constexpr char kWeekly[] =
    R"({"title":"Standup","start_at":"2026-05-04T09:00:00+02:00","end_at":"2026-05-04T09:30:00+02:00",)"
    R"("timezone":"Europe/Berlin","location":"Room 3","rrule":"FREQ=WEEKLY;BYDAY=MO,WE"})";
constexpr char kHolidays[] =
    R"({"title":"Holiday","all_day":true,"start_date":"2026-05-01","end_date":"2026-05-02","rrule":"FREQ=YEARLY"})";

class SeriesMethod : public CalendarUnderTest {
 protected:
  json::object read(std::string const& from, std::string const& to, std::string user = "ann") {
    return done("calendar.read", R"({"mode":"range","start_at":")" + from + R"(","end_at":")" + to + R"("})",
                std::move(user));
  }
  // The titles and starts of the events of May 2026, from a day on.
  Texts may(int from = 1, int to = 31, std::string user = "ann") {
    auto const day = [](int number) {
      return "2026-05-" + std::string{number < 10 ? "0" : ""} + std::to_string(number) + "T00:00:00Z";
    };
    Texts out;
    auto const found = read(day(from), day(to), std::move(user));
    for (auto const& item : found.at("items").as_array()) {
      auto const& event = item.as_object();
      auto const start = text_of(event, event.contains("start_at") ? "start_at" : "start_date");
      out.push_back(text_of(event, "title") + " " + start.substr(8, 8));
    }
    return out;
  }
  json::object one(std::string const& id, std::string user = "ann") {
    return done("calendar.read", R"({"mode":"event","event_id":")" + id + R"("})", std::move(user))
        .at("items")
        .at(0)
        .as_object();
  }
  static std::string text_of(json::object const& object, std::string_view field) {
    return std::string{object.at(field).as_string()};
  }
  static std::string about(std::string const& id, std::string const& fields) {
    return R"({"event_id":")" + id + R"(",)" + fields + "}";
  }
  json::object update(std::string const& id, std::string const& fields) {
    return done("calendar.update", about(id, fields));
  }
  std::size_t rows(std::string const& table) {
    return run_async(database.read(store::statement(table == "invites" ? "SELECT id FROM calendar_invites"
                                                                       : "SELECT id FROM calendar_events")))
        .value()
        .size();
  }
};

TEST_F(SeriesMethod, TOOL_12_ReadShowsOccurrencesAmongSingleEventsInOrder) {
  auto const id = create(kWeekly);
  create("Lunch", "2026-05-05T12:00:00Z", "2026-05-05T13:00:00Z");

  EXPECT_EQ(may(4, 12),
            (Texts{"Standup 04T07:00", "Lunch 05T12:00", "Standup 06T07:00", "Standup 11T07:00"}));
  auto const item = read("2026-05-06T00:00:00Z", "2026-05-07T00:00:00Z").at("items").at(0).as_object();
  EXPECT_EQ(
      json::serialize(item),
      R"({"event_id":")" + id +
          R"(","title":"Standup","start_at":"2026-05-06T07:00:00.000Z","end_at":"2026-05-06T07:30:00.000Z",)"
          R"("timezone":"Europe/Berlin","location":"Room 3","rrule":"FREQ=WEEKLY;BYDAY=MO,WE",)"
          R"("occurrence_start":"2026-05-06T07:00:00.000Z"})");
}

TEST_F(SeriesMethod, TOOL_12_DayShowsTheOccurrenceOfThatDay) {
  create(kHolidays);
  preferences.timezone = "America/Los_Angeles";

  auto const day = done("calendar.read", R"({"mode":"day","date":"2030-05-02"})");

  auto const& item = day.at("items").at(0).as_object();
  EXPECT_EQ(text_of(item, "start_date") + text_of(item, "end_date") + text_of(item, "occurrence_start"),
            "2030-05-012030-05-022030-05-01");
  EXPECT_EQ(done("calendar.read", R"({"mode":"day","date":"2030-05-03"})").at("count"), 0);
}

TEST_F(SeriesMethod, TOOL_12_EventIsTheSeriesWithItsExceptionsAndWhatComesNext) {
  // The call is made on 24 April 2026.
  auto const id = create(kWeekly);
  update(id, R"("exdates":["2026-05-06T09:00:00+02:00"])");

  auto const event = one(id);

  EXPECT_EQ(text_of(event, "start_at"), "2026-05-04T07:00:00.000Z");
  EXPECT_FALSE(event.contains("occurrence_start"));
  EXPECT_EQ(json::serialize(event.at("exdates")), R"(["2026-05-06T07:00:00.000Z"])");
  EXPECT_EQ(json::serialize(event.at("next_occurrences")),
            R"(["2026-05-04T07:00:00.000Z","2026-05-11T07:00:00.000Z","2026-05-13T07:00:00.000Z",)"
            R"("2026-05-18T07:00:00.000Z","2026-05-20T07:00:00.000Z"])");
}

TEST_F(SeriesMethod, TOOL_12_LimitCountsOccurrences) {
  create(
      R"({"title":"x","start_at":"2026-01-01T09:00:00Z","end_at":"2026-01-01T09:30:00Z","rrule":"FREQ=DAILY"})");

  EXPECT_EQ(read("2026-02-01T00:00:00Z", "2026-08-20T00:00:00Z").at("count"), 200);
  EXPECT_EQ(failure("calendar.read",
                    R"({"mode":"range","start_at":"2026-02-01T00:00:00Z","end_at":"2026-08-21T00:00:00Z"})"),
            "TOO_MANY_RESULTS: there are more than 200 events in this time; narrow the range");
}

TEST_F(SeriesMethod, TOOL_12_GuestsSeeOccurrences) {
  auto const id = create(kWeekly);
  done("calendar.share", about(id, R"("user_ids":["bob"])"));
  update(id, R"("exdates":["2026-05-04T07:00:00Z"])");

  EXPECT_EQ(may(4, 12, "bob"), (Texts{"Standup 06T07:00", "Standup 11T07:00"}));
  EXPECT_EQ(text_of(one(id, "bob"), "organizer"), "ann");
}

TEST_F(SeriesMethod, TOOL_12_RuleIsRefusedWithWhatIsWrong) {
  auto const with = [](std::string const& fields) {
    return R"({"title":"x","start_at":"2026-05-04T07:00:00Z","end_at":"2026-05-04T08:00:00Z",)" + fields +
           "}";
  };

  EXPECT_EQ(failure("calendar.create", with(R"("rrule":"FREQ=HOURLY")")),
            "INVALID_ACTION_INPUT: rrule FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY");
  EXPECT_EQ(failure("calendar.create", with(R"("exdates":["2026-05-04T07:00:00Z"])")),
            "INVALID_ACTION_INPUT: exdates can only be used for an event that repeats, which has an rrule");
  EXPECT_EQ(
      failure("calendar.create", with(R"("rrule":"FREQ=DAILY","exdates":["2026-05-05"])")),
      "INVALID_ACTION_INPUT: exdates must each be an RFC 3339 instant with Z or an offset from UTC, such as "
      "2026-05-01T09:00:00+02:00");
  EXPECT_EQ(
      failure("calendar.create", with(R"("rrule":"FREQ=DAILY","exdates":["2026-05-05T07:00:01Z"])")),
      "INVALID_ACTION_INPUT: exdates must be starts of occurrences, as the occurrence_start of calendar.read "
      "names them; at least one is not");
  EXPECT_EQ(
      failure("calendar.create", with(R"("rrule":"FREQ=DAILY;COUNT=1","exdates":["2026-05-04T07:00:00Z"])")),
      "INVALID_ACTION_INPUT: exdates must leave at least one occurrence");
  EXPECT_EQ(rows("events"), 0U);
}

TEST_F(SeriesMethod, TOOL_12_ResultDoesNotRepeatTheRule) {
  auto const result = done("calendar.create", kWeekly);

  EXPECT_EQ(result.size(), 2U) << json::serialize(result);
}

TEST_F(SeriesMethod, TOOL_12_EmptyRuleEndsTheRepetition) {
  auto const id = create(kWeekly);
  update(id, R"("exdates":["2026-05-06T07:00:00Z"])");

  update(id, R"("rrule":"")");

  EXPECT_EQ(may(), Texts{"Standup 04T07:00"});
  EXPECT_FALSE(one(id).contains("rrule"));
  EXPECT_FALSE(one(id).contains("exdates"));
}

TEST_F(SeriesMethod, TOOL_12_EventBecomesASeriesAndASeriesMovesWithItsExceptions) {
  auto const id = create("Standup", "2026-05-04T07:00:00Z", "2026-05-04T07:30:00Z");
  update(id, R"("rrule":"FREQ=DAILY;COUNT=3","exdates":["2026-05-05T07:00:00Z"])");
  EXPECT_EQ(may(), (Texts{"Standup 04T07:00", "Standup 06T07:00"}));

  update(id, R"("start_at":"2026-05-05T08:00:00Z")");

  EXPECT_EQ(may(), (Texts{"Standup 05T08:00", "Standup 07T08:00"}));
}

TEST_F(SeriesMethod, TOOL_12_NewZoneOfASeriesKeepsItsStartAndMovesItsClock) {
  auto const id = create(kWeekly);

  update(id, R"("timezone":"America/New_York")");

  // Berlin changes its clocks on 25 October, New York on 1 November.
  auto const october = read("2026-10-26T00:00:00Z", "2026-10-27T00:00:00Z").at("items").at(0).as_object();
  EXPECT_EQ(text_of(october, "start_at"), "2026-10-26T07:00:00.000Z");
  EXPECT_EQ(may(4, 5), Texts{"Standup 04T07:00"});
}

TEST_F(SeriesMethod, TOOL_12_RuleOfTheOtherKindMustBeGivenAgain) {
  auto const id = create(
      R"({"title":"x","start_at":"2026-05-04T07:00:00Z","end_at":"2026-05-04T08:00:00Z","rrule":"FREQ=DAILY;UNTIL=20260601T000000Z"})");

  EXPECT_EQ(failure("calendar.update", about(id, R"("start_date":"2026-05-04")")),
            "INVALID_ACTION_INPUT: rrule UNTIL must be a date such as 20261231, because the event takes "
            "whole days");
  update(id, R"("start_date":"2026-05-04","rrule":"FREQ=DAILY;UNTIL=20260505")");
  EXPECT_EQ(may(), (Texts{"x 04", "x 05"}));
}

TEST_F(SeriesMethod, TOOL_12_OneOccurrenceIsDeleted) {
  auto const id = create(kWeekly);

  auto const result = done("calendar.delete", about(id, R"("occurrence_start":"2026-05-06T09:00:00+02:00")"));

  EXPECT_EQ(json::serialize(result),
            R"({"event_id":")" + id +
                R"(","outcome":"deleted","title":"Standup","end_at":"2026-05-06T07:30:00.000Z"})");
  EXPECT_EQ(may(4, 12), (Texts{"Standup 04T07:00", "Standup 11T07:00"}));
}

TEST_F(SeriesMethod, TOOL_12_OccurrenceThatIsNotThereIsNotFound) {
  auto const id = create(kWeekly);
  auto const single = create("Lunch", "2026-05-05T12:00:00Z", "2026-05-05T13:00:00Z");
  std::string const none = "NO_SUCH_OCCURRENCE: the event has no occurrence with this occurrence_start";

  for (auto const* const start :
       {"2026-05-05T07:00:00Z", "2026-05-06T07:00:00.001Z", "2026-04-29T07:00:00Z"}) {
    auto const input = about(id, R"("occurrence_start":")" + std::string{start} + R"(","title":"x")");
    EXPECT_EQ(failure("calendar.update", input), none);
  }
  auto const gone = about(id, R"("occurrence_start":"2026-05-06T07:00:00Z")");
  done("calendar.delete", gone);
  EXPECT_EQ(failure("calendar.delete", gone), none);
  EXPECT_EQ(failure("calendar.delete", about(single, R"("occurrence_start":"2026-05-05T12:00:00Z")")),
            "NO_SUCH_OCCURRENCE: this event does not repeat, so it has no occurrence_start");
  EXPECT_EQ(failure("calendar.delete", about(id, R"("occurrence_start":"2026-05-06")")).substr(0, 57),
            "INVALID_ACTION_INPUT: occurrence_start must be an RFC 333");
}

TEST_F(SeriesMethod, TOOL_12_SeriesGoesWithItsLastOccurrence) {
  auto const id =
      create(R"({"title":"x","all_day":true,"start_date":"2026-05-04","rrule":"FREQ=DAILY;COUNT=2"})");

  done("calendar.delete", about(id, R"("occurrence_start":"2026-05-05")"));
  EXPECT_EQ(may(), Texts{"x 04"});
  done("calendar.delete", about(id, R"("occurrence_start":"2026-05-04")"));
  EXPECT_EQ(rows("events"), 0U);
}

TEST_F(SeriesMethod, TOOL_12_ChangedOccurrenceBecomesAnEventOfItsOwn) {
  auto const id = create(kWeekly);

  auto const result = update(
      id, R"("occurrence_start":"2026-05-06T07:00:00Z","start_at":"2026-05-07T10:00:00Z","title":"Demo")");

  auto const moved = text_of(result, "event_id");
  EXPECT_EQ(json::serialize(result), R"({"event_id":")" + moved + R"(","series_id":")" + id +
                                         R"(","outcome":"updated","end_at":"2026-05-07T10:30:00.000Z"})");
  EXPECT_NE(moved, id);
  EXPECT_EQ(may(4, 12), (Texts{"Standup 04T07:00", "Demo 07T10:00", "Standup 11T07:00"}));
  EXPECT_EQ(text_of(one(moved), "location"), "Room 3");
  EXPECT_FALSE(one(moved).contains("rrule"));
}

TEST_F(SeriesMethod, TOOL_12_GuestsOfASeriesAreThoseOfItsChangedOccurrence) {
  auto const id = create(kWeekly);
  auto const shared = done("calendar.share", about(id, R"("user_ids":["bob","carl","dora"])"));
  auto const invite = [&](std::size_t i) {
    return text_of(shared.at("items").at(i).as_object(), "invite_id");
  };
  done("calendar.accept_invite", R"({"invite_id":")" + invite(0) + R"("})", "bob");
  done("calendar.reject_invite", R"({"invite_id":")" + invite(1) + R"("})", "carl");

  update(id, R"("occurrence_start":"2026-05-06T07:00:00Z","title":"Demo")");

  EXPECT_EQ(may(4, 7, "bob"), (Texts{"Standup 04T07:00", "Demo 06T07:00"}));
  EXPECT_EQ(may(4, 7, "carl"), Texts{});
  auto const items = read("2026-05-06T00:00:00Z", "2026-05-07T00:00:00Z", "bob").at("items").as_array();
  EXPECT_EQ(text_of(items.at(0).as_object(), "invite_status"), "accepted");
  EXPECT_FALSE(items.at(0).as_object().contains("rrule"));
}

TEST_F(SeriesMethod, TOOL_12_RuleCannotBeChangedForOneOccurrence) {
  auto const id = create(kWeekly);
  auto const with = [&](std::string const& fields) {
    return failure("calendar.update", about(id, R"("occurrence_start":"2026-05-06T07:00:00Z")" + fields));
  };

  EXPECT_EQ(with(R"(,"rrule":"")"),
            "INVALID_ACTION_INPUT: rrule and exdates cannot be used with occurrence_start");
  EXPECT_EQ(with(""),
            "INVALID_ACTION_INPUT: the input must have at least one field to change besides event_id and "
            "occurrence_start");
  EXPECT_EQ(rows("events"), 1U);
}

TEST_F(SeriesMethod, TOOL_12_ChangeThatCameBetweenFencesTheChangeOfAnOccurrence) {
  auto const id = create(kWeekly);
  auto const input = about(id, R"("occurrence_start":"2026-05-06T07:00:00Z","title":"Demo")");
  auto const effect = std::get<MethodResult>(call("calendar.update", input)).effect;
  update(id, R"("title":"Daily")");

  auto const written = run_async(database.write(effect));

  EXPECT_EQ(written.error().code, Errc::conflict);
  EXPECT_EQ(rows("events"), 1U);
}

TEST_F(SeriesMethod, TOOL_12_ChangeThatCameBetweenFencesTheEndOfASeries) {
  auto const id =
      create(R"({"title":"x","all_day":true,"start_date":"2026-05-04","rrule":"FREQ=DAILY;COUNT=1"})");
  auto const input = about(id, R"("occurrence_start":"2026-05-04")");
  auto const effect = std::get<MethodResult>(call("calendar.delete", input)).effect;
  update(id, R"("rrule":"FREQ=DAILY;COUNT=10")");

  auto const written = run_async(database.write(effect));

  EXPECT_EQ(written.error().code, Errc::conflict);
  EXPECT_EQ(may(4, 7).size(), 4U);
}

TEST_F(SeriesMethod, TOOL_12_ResultSaysThatTheEventRepeats) {
  auto const id = create(kWeekly);

  EXPECT_EQ(text_of(update(id, R"("title":"y")"), "rrule"), "FREQ=WEEKLY;BYDAY=MO,WE");
  EXPECT_FALSE(update(id, R"("rrule":"FREQ=DAILY")").contains("rrule")) << "the input says it";
  EXPECT_FALSE(
      done("calendar.delete", about(id, R"("occurrence_start":"2026-05-06T07:00:00Z")")).contains("rrule"));
  EXPECT_EQ(text_of(done("calendar.delete", R"({"event_id":")" + id + R"("})"), "rrule"), "FREQ=DAILY");
}

TEST_F(SeriesMethod, TOOL_12_ItemsOfABatchAreComparedWithSeries) {
  auto const weekly = create(kWeekly);
  std::string const monday =
      R"({"title":"a","start_at":"2026-05-11T07:10:00Z","end_at":"2026-05-11T07:20:00Z"})";
  std::string const tuesday =
      R"({"title":"b","start_at":"2026-05-12T07:10:00Z","end_at":"2026-05-12T07:20:00Z"})";

  auto const result =
      done("calendar.create", R"({"mode":"batch","items":[)" + monday + "," + tuesday + "," + monday + "]}");

  auto const& items = result.at("items").as_array();
  for (std::size_t const i : {0, 2})
    EXPECT_EQ(text_of(items.at(i).at("conflicts").at(0).as_object(), "event_id"), weekly);
  EXPECT_FALSE(items.at(1).as_object().contains("conflicts"));
}

TEST_F(SeriesMethod, TOOL_12_ConflictOfALongEventIsFoundMoreThanAYearAfterItsStart) {
  auto const party = create(
      R"({"title":"Party","start_at":"2028-02-01T00:00:00Z","end_at":"2028-02-02T00:00:00Z","rrule":"FREQ=YEARLY"})");

  // Its second occurrence lasts until November 2028.
  auto const cruise = done(
      "calendar.create",
      R"({"title":"Cruise","start_at":"2026-12-25T00:00:00Z","end_at":"2027-11-20T00:00:00Z","rrule":"FREQ=YEARLY"})");

  ASSERT_TRUE(cruise.contains("conflicts"));
  EXPECT_EQ(text_of(cruise.at("conflicts").at(0).as_object(), "event_id"), party);
}

TEST_F(SeriesMethod, TOOL_12_ConflictsAreFoundWithOccurrencesOnBothSides) {
  auto const weekly = create(kWeekly);
  auto const lunch =
      done("calendar.create",
           R"({"title":"Lunch","start_at":"2026-06-03T07:15:00Z","end_at":"2026-06-03T08:00:00Z"})");
  EXPECT_EQ(
      json::serialize(lunch.at("conflicts")),
      R"([{"event_id":")" + weekly +
          R"(","title":"Standup","start_at":"2026-06-03T07:00:00.000Z","end_at":"2026-06-03T07:30:00.000Z"}])");

  auto const daily = done(
      "calendar.create",
      R"({"title":"Run","start_at":"2026-06-01T07:20:00Z","end_at":"2026-06-01T07:40:00Z","rrule":"FREQ=DAILY"})");

  ASSERT_EQ(daily.at("conflicts").as_array().size(), 2U);
  EXPECT_EQ(text_of(daily.at("conflicts").at(0).as_object(), "start_at"), "2026-06-01T07:00:00.000Z");
  EXPECT_EQ(text_of(daily.at("conflicts").at(1).as_object(), "title"), "Lunch");
  EXPECT_FALSE(
      done("calendar.update", about(weekly, R"("occurrence_start":"2026-05-06T07:00:00Z","title":"y")"))
          .contains("conflicts"));
}

TEST_F(SeriesMethod, TOOL_12_BatchCountsTheSeriesThatItMakesAndEnds) {
  std::string items;
  for (int i = 0; i < 499; ++i)
    items += std::string{i == 0 ? "" : ","} + kHolidays;
  auto const made = done("calendar.create", R"({"mode":"batch","items":[)" + items + "]}");
  auto const series = text_of(made.at("items").at(0).as_object(), "event_id");
  auto const other = text_of(made.at("items").at(1).as_object(), "event_id");
  auto const first = create("Lunch", "2026-05-05T12:00:00Z", "2026-05-05T13:00:00Z");
  auto const second = create("Dinner", "2026-05-05T18:00:00Z", "2026-05-05T19:00:00Z");
  auto const with_rule = [](std::string const& id, std::string const& rule) {
    return R"({"event_id":")" + id + R"(","rrule":")" + rule + R"("})";
  };

  auto const changed =
      done("calendar.update", R"({"mode":"batch","items":[)" + with_rule(series, "FREQ=DAILY") + "," +
                                  with_rule(first, "FREQ=DAILY") + "," + with_rule(other, "") + "," +
                                  with_rule(second, "FREQ=DAILY") + "]}");

  EXPECT_EQ(changed.at("failed"), 0) << json::serialize(changed);
  EXPECT_EQ(failure("calendar.create", kWeekly).substr(0, 15), "TOO_MANY_SERIES");
}

TEST_F(SeriesMethod, TOOL_12_UserHasAtMost500Series) {
  std::string items;
  for (int i = 0; i < 501; ++i)
    items += std::string{i == 0 ? "" : ","} + kHolidays;

  auto const result = done("calendar.create", R"({"mode":"batch","items":[)" + items + "]}");

  EXPECT_EQ(result.at("failed"), 1);
  EXPECT_EQ(rows("events"), 500U);
  EXPECT_EQ(failure("calendar.create", kWeekly).substr(0, 15), "TOO_MANY_SERIES");
  auto const single = create("Lunch", "2026-05-05T12:00:00Z", "2026-05-05T13:00:00Z");
  EXPECT_EQ(failure("calendar.update", about(single, R"("rrule":"FREQ=DAILY")")).substr(0, 15),
            "TOO_MANY_SERIES");
}

TEST_F(SeriesMethod, TOOL_12_SeriesHasAtMost500Exceptions) {
  std::string starts;
  for (int i = 0; i < 500; ++i)
    starts += (i == 0 ? "\"" : ",\"") + to_rfc3339(1'777'852'800'000 + i * kDayMs).substr(0, 10) + "\"";
  auto const id =
      create(R"({"title":"x","all_day":true,"start_date":"2026-05-04","rrule":"FREQ=DAILY","exdates":[)" +
             starts + "]}");

  EXPECT_EQ(may(), Texts{});
  EXPECT_EQ(failure("calendar.delete", about(id, R"("occurrence_start":"2027-09-16")")),
            "TOO_MANY_EXCEPTIONS: a series has at most 500 exceptions; end it with UNTIL in its rrule, and "
            "create another "
            "one");
}

}  // namespace
}  // namespace runnel::modules::calendar
