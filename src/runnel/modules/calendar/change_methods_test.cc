#include <gtest/gtest.h>

#include "runnel/modules/calendar/methods.h"
#include "runnel/modules/calendar/testing/calendar_under_test.h"

namespace runnel::modules::calendar {
namespace {

namespace json = boost::json;

constexpr char kUpdate[] = "calendar.update";
constexpr char kDelete[] = "calendar.delete";

// calendar.update, calendar.delete, events of whole days, conflicts and batches.
class CalendarChange : public CalendarUnderTest {
 protected:
  std::string tea() { return create("Tea", "2026-05-01T07:00:00Z", "2026-05-01T08:00:00Z"); }
  std::string holiday() {
    return create(R"({"title":"Holiday","all_day":true,"start_date":"2026-05-01","end_date":"2026-05-03"})");
  }
  static std::string about(std::string const& id, std::string const& changes) {
    return R"({"event_id":")" + id + "\"" + (changes.empty() ? "" : ",") + changes + "}";
  }
  void update(std::string const& id, std::string const& changes) {
    EXPECT_EQ(done(kUpdate, about(id, changes)).at("outcome"), "updated");
  }
  std::string update_refused(std::string const& id, std::string const& changes) {
    return failure(kUpdate, about(id, changes));
  }
  json::object shown(std::string const& id, std::string user = "ann") {
    auto const data =
        done("calendar.read", R"({"mode":"event","event_id":")" + id + R"("})", std::move(user));
    return data.at("items").at(0).as_object();
  }
  std::string text(std::string const& id, char const* field) {
    auto const event = shown(id);
    return event.contains(field) ? std::string{event.at(field).as_string()} : "";
  }
  std::string span(std::string const& id) {
    auto const event = shown(id);
    bool const days = event.contains("all_day");
    return std::string{event.at(days ? "start_date" : "start_at").as_string()} + " " +
           std::string{event.at(days ? "end_date" : "end_at").as_string()};
  }
  std::vector<std::string> titles_of_day(std::string const& date) {
    std::vector<std::string> out;
    auto const data = done("calendar.read", R"({"mode":"day","date":")" + date + R"("})");
    for (auto const& item : data.at("items").as_array())
      out.emplace_back(item.at("title").as_string());
    return out;
  }
};

using Titles = std::vector<std::string>;

TEST_F(CalendarChange, TOOL_12_UpdateChangesWhatIsSentAndNothingElse) {
  auto const id = create(
      R"({"title":"Tea","start_at":"2026-05-01T07:00:00Z","end_at":"2026-05-01T08:00:00Z","location":"Room 3",)"
      R"("description":"Cups","reminders":[10,0]})");
  auto const before = shown(id);

  update(id, R"("title":"Green tea","location":"")");

  auto expected = before;
  expected["title"] = "Green tea";
  expected.erase("location");
  EXPECT_EQ(shown(id), expected);
  EXPECT_EQ(json::serialize(expected.at("reminders")), "[10,0]");
  update(id, R"("reminders":[],"description":"","timezone":"Europe/Berlin")");
  EXPECT_FALSE(shown(id).contains("reminders"));
  EXPECT_FALSE(shown(id).contains("description"));
  EXPECT_EQ(text(id, "timezone"), "Europe/Berlin");
}

TEST_F(CalendarChange, V2_2_DataNameTheEventWithoutWhatTheInputSays) {
  auto const id = tea();

  EXPECT_EQ(done(kUpdate, about(id, R"("start_at":"2026-05-02T07:00:00Z")")),
            (json::object{{"event_id", id},
                          {"outcome", "updated"},
                          {"title", "Tea"},
                          {"end_at", "2026-05-02T08:00:00.000Z"}}));
  EXPECT_EQ(done(kUpdate, about(holiday(), R"("title":"Free")")).at("start_date"), "2026-05-01");
}

TEST_F(CalendarChange, TOOL_12_StartWithoutEndMovesTheEvent) {
  auto const id = tea();

  update(id, R"("start_at":"2026-05-02T09:30:00+02:00")");
  EXPECT_EQ(span(id), "2026-05-02T07:30:00.000Z 2026-05-02T08:30:00.000Z");

  update(id, R"("end_at":"2026-05-02T12:00:00Z")");
  EXPECT_EQ(span(id), "2026-05-02T07:30:00.000Z 2026-05-02T12:00:00.000Z");

  update(id, R"("start_at":"2026-05-03T00:00:00Z","end_at":"2026-05-03T00:00:01Z")");
  EXPECT_EQ(span(id), "2026-05-03T00:00:00.000Z 2026-05-03T00:00:01.000Z");
}

TEST_F(CalendarChange, TOOL_4_ChangesThatMakeNoEventAreRefused) {
  auto const id = tea();

  EXPECT_EQ(update_refused(id, R"("end_at":"2026-05-01T07:00:00Z")"),
            "INVALID_ACTION_INPUT: end_at must be after start_at");
  EXPECT_EQ(update_refused(id, R"("end_at":"2027-06-01T07:00:00Z")"),
            "INVALID_ACTION_INPUT: end_at must be at most 366 days after start_at");
  EXPECT_TRUE(update_refused(id, R"("start_at":"2026-05-02")")
                  .starts_with("INVALID_ACTION_INPUT: start_at must be an RFC 3339 instant"));
  EXPECT_EQ(update_refused(id, R"("start_at":"9999-12-31T23:30:00Z")"),
            "INVALID_ACTION_INPUT: start_at must be so early that the event ends in the year 9999");
  EXPECT_EQ(update_refused(id, R"("title":"\u3000")"), "INVALID_ACTION_INPUT: title must not be blank");
  EXPECT_TRUE(update_refused(id, R"("timezone":"Mars/Base")").starts_with("INVALID_ACTION_INPUT: timezone"));
  EXPECT_EQ(fault(kUpdate, about(id, "")), "must have at least 2 members");
  EXPECT_EQ(update_refused(id, R"("mode":"single")"),
            "INVALID_ACTION_INPUT: the input must have at least one field to change besides event_id and "
            "occurrence_start");
  EXPECT_EQ(fault(kUpdate, R"({"title":"x"})"), "must have at least 2 members; /event_id: is required");
  EXPECT_EQ(span(id), "2026-05-01T07:00:00.000Z 2026-05-01T08:00:00.000Z");
}

TEST_F(CalendarChange, TOOL_12_AllDayEventIsShownOnItsDaysInEveryTimeZone) {
  auto const id = holiday();
  EXPECT_EQ(span(id), "2026-05-01 2026-05-03");

  for (auto const* zone :
       {"Asia/Shanghai", "America/Los_Angeles", "Pacific/Kiritimati", "UTC", "Mars/Base"}) {
    preferences.timezone = zone;
    EXPECT_EQ(titles_of_day("2026-04-30"), Titles{}) << zone;
    EXPECT_EQ(titles_of_day("2026-05-01"), Titles{"Holiday"}) << zone;
    EXPECT_EQ(titles_of_day("2026-05-03"), Titles{"Holiday"}) << zone;
    EXPECT_EQ(titles_of_day("2026-05-04"), Titles{}) << zone;
  }
}

TEST_F(CalendarChange, TOOL_12_RangeShowsAllDayEventsOfTheDatesThatItHasForTheUser) {
  holiday();
  auto const count = [&](char const* start, char const* end) {
    auto const data = done("calendar.read", std::string{R"({"mode":"range","start_at":")"} + start +
                                                R"(","end_at":")" + end + R"("})");
    return data.at("count").as_int64();
  };

  preferences.timezone = "Asia/Shanghai";
  EXPECT_EQ(count("2026-04-30T15:00:00Z", "2026-04-30T16:00:00Z"), 0);
  EXPECT_EQ(count("2026-04-30T15:00:00Z", "2026-04-30T16:00:01Z"), 1);
  preferences.timezone = "America/Los_Angeles";
  EXPECT_EQ(count("2026-04-30T16:00:00Z", "2026-05-01T07:00:00Z"), 0);
  EXPECT_EQ(count("2026-05-04T06:59:59Z", "2026-05-04T08:00:00Z"), 1);
}

TEST_F(CalendarChange, TOOL_12_AllDayEventIsMovedAndCanGetATimeOfDay) {
  auto const id = holiday();

  update(id, R"("start_date":"2028-02-28")");
  EXPECT_EQ(span(id), "2028-02-28 2028-03-01") << "2028 has a 29 February";
  EXPECT_EQ(update_refused(id, R"("start_date":"9999-12-29")"),
            "INVALID_ACTION_INPUT: start_date must be so early that the event ends before 9999-12-31");
  update(id, R"("end_date":"2028-02-28")");
  EXPECT_EQ(span(id), "2028-02-28 2028-02-28");

  EXPECT_EQ(update_refused(id, R"("start_at":"2028-02-28T09:00:00Z")"),
            "INVALID_ACTION_INPUT: end_at is required to make this an event at a time of day");
  update(id, R"("all_day":false,"start_at":"2028-02-28T09:00:00Z","end_at":"2028-02-28T10:00:00Z")");
  EXPECT_EQ(span(id), "2028-02-28T09:00:00.000Z 2028-02-28T10:00:00.000Z");
  EXPECT_EQ(update_refused(id, R"("all_day":true)"),
            "INVALID_ACTION_INPUT: start_date is required to make this an event of whole days");
  update(id, R"("all_day":true,"start_date":"2028-02-29")");
  EXPECT_EQ(span(id), "2028-02-29 2028-02-29");
}

TEST_F(CalendarChange, TOOL_4_DatesAndTimesOfDayExcludeEachOther) {
  auto const id = tea();

  EXPECT_EQ(update_refused(id, R"("start_at":"2026-05-01T09:00:00Z","start_date":"2026-05-01")"),
            "INVALID_ACTION_INPUT: start_date and end_date cannot be used with start_at and end_at");
  EXPECT_EQ(update_refused(id, R"("all_day":true,"start_at":"2026-05-01T09:00:00Z")"),
            "INVALID_ACTION_INPUT: start_at and end_at cannot be used for an event of whole days");
  EXPECT_EQ(update_refused(holiday(), R"("all_day":false,"start_date":"2026-05-01")"),
            "INVALID_ACTION_INPUT: start_date and end_date cannot be used for an event at a time of day");
  EXPECT_EQ(fault(kCreate, R"({"title":"x","all_day":true})"), "/start_date: is required");
  EXPECT_EQ(
      fault(kCreate, R"({"title":"x","all_day":true,"start_date":"2026-05-01","end_at":"x"})"),
      "/end_at: is not known; known: mode, title, all_day, start_date, end_date, location, description, "
      "timezone, reminders, rrule, exdates");
}

TEST_F(CalendarChange, TOOL_4_DatesOfAllDayEventsExistAndAreInOrder) {
  auto const refused = [&](char const* first, char const* last) {
    return failure(kCreate, std::string{R"({"title":"x","all_day":true,"start_date":")"} + first +
                                R"(","end_date":")" + last + R"("})");
  };
  constexpr char kNoDate[] = " must be a date that exists, as YYYY-MM-DD, such as 2026-05-01";

  EXPECT_EQ(refused("2026-02-29", "2026-03-01"), std::string{"INVALID_ACTION_INPUT: start_date"} + kNoDate);
  EXPECT_EQ(refused("2026-02-28", "2026-02-29"), std::string{"INVALID_ACTION_INPUT: end_date"} + kNoDate);
  EXPECT_EQ(refused("2026-05-02", "2026-05-01"),
            "INVALID_ACTION_INPUT: end_date must not be before start_date");
  EXPECT_EQ(refused("2026-05-01", "2027-05-02"),
            "INVALID_ACTION_INPUT: end_date must be at most 365 days after start_date");
  EXPECT_EQ(refused("1969-12-31", "1970-01-01"),
            "INVALID_ACTION_INPUT: start_date must be in the years 1970 to 9999");
  EXPECT_EQ(refused("9999-12-30", "9999-12-31"), "INVALID_ACTION_INPUT: end_date must be before 9999-12-31");
}

TEST_F(CalendarChange, TOOL_12_OverlappingEventsAreTold) {
  auto const first = tea();
  auto const tell = R"({"title":"Call","start_at":"2026-05-01T07:59:59Z","end_at":"2026-05-01T09:00:00Z"})";
  json::array const conflicts{json::object{{"event_id", first},
                                           {"title", "Tea"},
                                           {"start_at", "2026-05-01T07:00:00.000Z"},
                                           {"end_at", "2026-05-01T08:00:00.000Z"}}};

  auto const created = done(kCreate, tell);
  auto const id = std::string{created.at("event_id").as_string()};

  EXPECT_EQ(created, (json::object{{"event_id", id}, {"outcome", "created"}, {"conflicts", conflicts}}));
  update(id, R"("start_at":"2026-05-01T08:00:00Z")");
  EXPECT_EQ(done(kUpdate, about(id, R"("start_at":"2026-05-01T07:30:00Z")")).at("conflicts"), conflicts)
      << "an event is no conflict with itself";
}

TEST_F(CalendarChange, TOOL_12_WhatIsNoConflict) {
  tea();
  holiday();

  EXPECT_FALSE(
      done(kCreate, R"({"title":"x","all_day":true,"start_date":"2026-05-01"})").contains("conflicts"));
  auto const after = R"({"title":"x","start_at":"2026-05-01T08:00:00Z","end_at":"2026-05-01T09:00:00Z"})";
  EXPECT_FALSE(done(kCreate, after).contains("conflicts"));
  EXPECT_TRUE(done(kCreate, after).contains("conflicts"));
  EXPECT_FALSE(done(kCreate, after, "bob").contains("conflicts")) << "another's events are not told";
}

TEST_F(CalendarChange, TOOL_12_AtMostFiveConflictsAreTold) {
  for (int i = 0; i < 7; ++i)
    tea();

  auto const created =
      done(kCreate, R"({"title":"x","start_at":"2026-05-01T07:00:00Z","end_at":"2026-05-01T08:00:00Z"})");

  EXPECT_EQ(created.at("conflicts").as_array().size(), 5U);
}

TEST_F(CalendarChange, TOOL_12_DeletedEventIsGone) {
  auto const id = tea();

  EXPECT_EQ(done(kDelete, about(id, "")), (json::object{{"event_id", id},
                                                        {"outcome", "deleted"},
                                                        {"title", "Tea"},
                                                        {"start_at", "2026-05-01T07:00:00.000Z"},
                                                        {"end_at", "2026-05-01T08:00:00.000Z"}}));

  EXPECT_EQ(failure(kDelete, about(id, "")), kNoEvent);
  EXPECT_EQ(update_refused(id, R"("title":"x")"), kNoEvent);
  EXPECT_EQ(titles_of_day("2026-05-01"), Titles{});
}

TEST_F(CalendarChange, HTTP_3_AnothersEventIsNeitherChangedNorDeleted) {
  auto const id = tea();
  auto const before = shown(id);

  EXPECT_EQ(failure(kUpdate, about(id, R"("title":"Mine")"), "bob"), kNoEvent);
  EXPECT_EQ(failure(kDelete, about(id, ""), "bob"), kNoEvent);
  EXPECT_EQ(shown(id), before);
}

TEST_F(CalendarChange, HTTP_9_OnlyWhatNeedsNoStorageIsDoneWithoutIt) {
  auto const id = tea();

  EXPECT_TRUE(std::get<MethodResult>(call(kUpdate, about(id, R"("title":"x")"))).takes_storage);
  EXPECT_FALSE(std::get<MethodResult>(call(kDelete, about(id, ""))).takes_storage);
}

TEST_F(CalendarChange, RUN_12_EffectOfAChangeThatCameTooLateIsRefused) {
  auto const id = tea();
  auto const late = std::get<MethodResult>(call(kUpdate, about(id, R"("title":"Late")")));

  update(id, R"("title":"Early")");
  auto const written = run_async(database.write(late.effect));

  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Errc::conflict);
  EXPECT_EQ(text(id, "title"), "Early");
}

// A batch with `count` events, of which those with the indexes 0, 500 and the last one are wrong.
std::string batch_with_three_bad(int count) {
  json::array items;
  for (int i = 0; i < count; ++i) {
    items.push_back(json::object{{"title", "T" + std::to_string(i)},
                                 {"start_at", "2026-05-01T07:00:00Z"},
                                 {"end_at", "2026-05-01T08:00:00Z"}});
  }
  items.front().as_object().erase("title");
  items.at(500).as_object()["end_at"] = "2026-05-01T06:00:00Z";
  items.back().as_object()["color"] = "red";
  return json::serialize(json::object{{"mode", "batch"}, {"items", items}});
}

TEST_F(CalendarChange, TOOL_12_BadItemsOfABatchFailAlone) {
  auto const input = batch_with_three_bad(1000);
  auto const result = std::get<MethodResult>(call(kCreate, input));
  auto const data = document(result.data).as_object();

  EXPECT_TRUE(result.partial);
  EXPECT_EQ(result.effect.size(), 997U);
  EXPECT_EQ(data.at("count"), 1000);
  EXPECT_EQ(data.at("failed"), 3);
  auto const& items = data.at("items").as_array();
  ASSERT_EQ(items.size(), 1000U);
  EXPECT_EQ(items[1].at("index"), 1);
  EXPECT_EQ(items[1].at("outcome"), "created");
  for (auto const& [index, message] :
       {std::pair{0U, "/title: is required"}, std::pair{500U, "end_at must be after start_at"},
        std::pair{999U,
                  "/color: is not known; known: title, start_at, end_at, all_day, location, description, "
                  "timezone, reminders, rrule, exdates"}}) {
    EXPECT_EQ(items[index],
              (json::object{{"index", index},
                            {"outcome", "failed"},
                            {"error", {{"code", "INVALID_ACTION_INPUT"}, {"message", message}}}}));
  }
}

TEST_F(CalendarChange, TOOL_12_BatchIsWrittenAsOneEffect) {
  auto const made = done(kCreate, batch_with_three_bad(502));
  auto const first = std::string{made.at("items").at(1).at("event_id").as_string()};
  auto const second = std::string{made.at("items").at(2).at("event_id").as_string()};

  auto const changed = done(kUpdate, R"({"mode":"batch","items":[)" + about(first, R"("title":"One")") + "," +
                                         about(second, R"("title":"Two")") + "]}");
  EXPECT_EQ(changed.at("failed"), 0);
  EXPECT_EQ(text(first, "title"), "One");
  EXPECT_EQ(text(second, "title"), "Two");

  auto const deleted = done(kDelete, R"({"mode":"batch","items":[)" + about(first, "") + "," +
                                         about("evt_none", "") + "," + about(second, "") + "]}");
  EXPECT_EQ(deleted.at("failed"), 1);
  EXPECT_EQ(deleted.at("items").at(1).at("error").at("code"), "NOT_FOUND");
  EXPECT_EQ(failure(kDelete, about(first, "")), kNoEvent);
}

TEST_F(CalendarChange, TOOL_12_EventIsInABatchOnce) {
  auto const id = tea();

  auto const data = done(kUpdate, R"({"mode":"batch","items":[)" + about(id, R"("title":"One")") + "," +
                                      about(id, R"("title":"Two")") + "]}");

  EXPECT_EQ(data.at("items").at(1).at("error").at("message"),
            "event_id is that of an earlier item; an event can be in a batch only once");
  EXPECT_EQ(text(id, "title"), "One");
}

TEST_F(CalendarChange, TOOL_12_BatchOfWhichNothingCanBeDoneFails) {
  auto const answer = call(kDelete, R"({"mode":"batch","items":[{"event_id":"evt_a"},{}]})");

  auto const& failed = std::get<MethodFailure>(answer);
  EXPECT_EQ(failed.code, "BATCH_FAILED");
  EXPECT_EQ(
      failed.items,
      R"([{"index":0,"outcome":"failed","error":{"code":"NOT_FOUND","message":"the user has no event with )"
      R"(this event_id"}},{"index":1,"outcome":"failed","error":{"code":"INVALID_ACTION_INPUT",)"
      R"("message":"/event_id: is required"}}])");
}

TEST_F(CalendarChange, TOOL_4_BatchHas1To1000Items) {
  for (auto const* method : {kCreate, kUpdate, kDelete}) {
    EXPECT_EQ(fault(method, R"({"mode":"batch","items":[]})"), "/items: must not be empty") << method;
    EXPECT_EQ(fault(method, R"({"mode":"batch"})"), "/items: is required") << method;
    EXPECT_EQ(fault(method, R"({"mode":"batch","items":{}})"), "/items: must be a list") << method;
  }
  json::array const items(1001, json::object{{"event_id", "x"}});
  EXPECT_EQ(fault(kDelete, json::serialize(json::object{{"mode", "batch"}, {"items", items}})),
            "/items: must have at most 1000 items");
}

}  // namespace
}  // namespace runnel::modules::calendar
