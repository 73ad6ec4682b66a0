#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runnel/modules/calendar/module.h"
#include "runnel/modules/calendar/repository.h"
#include "runnel/modules/testing/module_under_test.h"
#include "tests/support/run_async.h"

namespace runnel::modules::calendar {
namespace {

namespace json = boost::json;

constexpr char kEvents[] = "/api/v1/calendar/events";
constexpr char kInvites[] = "/api/v1/calendar/invites";
constexpr char kTeaBody[] =
    R"({"title":"Tea","start_at":"2026-05-01T09:00:00+02:00","end_at":"2026-05-01T08:00:00Z"})";
constexpr char kMay[] = "?from=2026-05-01T00:00:00Z&to=2026-06-01T00:00:00Z";

class CalendarRoute : public testing::Test {
 protected:
  api::Response post(std::string const& path, std::string body, std::string user = "ann") {
    return under_test.ask(api::Method::post, path, std::move(body), std::move(user));
  }
  api::Response get(std::string const& path, std::string user = "ann") {
    return under_test.ask(api::Method::get, path, "", std::move(user));
  }
  api::Response patch(std::string const& id, std::string body, std::string user = "ann") {
    return under_test.ask(api::Method::patch, event(id), std::move(body), std::move(user));
  }
  api::Response del(std::string const& id, std::string user = "ann") {
    return under_test.ask(api::Method::del, event(id), "", std::move(user));
  }
  static std::string event(std::string const& id) { return std::string{kEvents} + "/" + id; }
  std::string add(std::string body = kTeaBody) {
    auto const response = post(kEvents, std::move(body));
    EXPECT_EQ(response.status, 201) << response.body;
    return std::string{json::parse(response.body).at("event_id").as_string()};
  }
  std::string share(std::string const& id, std::string const& user) {
    auto const response = post(event(id) + "/share", R"({"user_ids":[")" + user + R"("]})");
    EXPECT_EQ(response.status, 200) << response.body;
    return std::string{json::parse(response.body).at("items").at(0).at("invite_id").as_string()};
  }
  static json::object body(api::Response const& response) { return json::parse(response.body).as_object(); }
  // "STATUS CODE: message", and the violations instead of the message if there are some.
  static std::string refused(api::Response const& response) {
    auto const error = json::parse(response.body).at("error");
    auto out = std::to_string(response.status) + " " + std::string{error.at("code").as_string()} + ": ";
    auto const* const violations = error.at("details").as_object().if_contains("violations");
    if (violations == nullptr) return out + std::string{error.at("message").as_string()};
    for (auto const& violation : violations->as_array())
      out += std::string{violation.at("path").as_string()} + " " +
             std::string{violation.at("problem").as_string()} + ";";
    return out;
  }
  std::vector<std::string> titles(std::string const& query, std::string user = "ann") {
    auto const response = get(kEvents + query, std::move(user));
    EXPECT_EQ(response.status, 200) << response.body;
    std::vector<std::string> out;
    auto const list = json::parse(response.body);
    for (auto const& item : list.at("items").as_array())
      out.emplace_back(item.at("title").as_string());
    EXPECT_EQ(list.at("count"), out.size());
    return out;
  }

  ModuleUnderTest under_test{define()};
};

using Titles = std::vector<std::string>;

TEST_F(CalendarRoute, TOOL_12_AddedEventIsShown) {
  auto const added = post(
      kEvents,
      R"({"title":"晨会","start_at":"2026-05-01T09:00:00+02:00","end_at":"2026-05-01T08:00:00Z","location":"Room 3",)"
      R"("description":"Cups","timezone":"Europe/Berlin","reminders":[10]})");

  EXPECT_EQ(added.status, 201) << added.body;
  auto shown = body(added);
  auto const id = std::string{shown.at("event_id").as_string()};
  auto listed = body(get(event(id)));
  EXPECT_EQ(listed.at("guests"), json::array{});
  listed.erase("guests");
  EXPECT_EQ(listed, shown);
  for (auto const* const field : {"event_id", "created_at", "updated_at"})
    EXPECT_TRUE(shown.erase(field)) << field;
  EXPECT_EQ(
      shown,
      json::parse(
          R"({"title":"晨会","start_at":"2026-05-01T07:00:00.000Z","end_at":"2026-05-01T08:00:00.000Z",)"
          R"("timezone":"Europe/Berlin","location":"Room 3","description":"Cups","reminders":[10]})"));
}

TEST_F(CalendarRoute, TOOL_12_TimeZoneIsUtcIfNoneIsSent) {
  EXPECT_EQ(body(post(kEvents, kTeaBody)).at("timezone"), "UTC");
}

TEST_F(CalendarRoute, TOOL_12_ConflictsAreShown) {
  auto const first = add();

  auto const second = body(post(kEvents, kTeaBody));

  ASSERT_EQ(second.at("conflicts").as_array().size(), 1U);
  EXPECT_EQ(second.at("conflicts").at(0).at("event_id").as_string(), first);
}

TEST_F(CalendarRoute, TOOL_12_ListShowsARange) {
  add();
  add(R"({"title":"Holiday","all_day":true,"start_date":"2026-05-31"})");
  add(R"({"title":"June","start_at":"2026-06-01T00:00:00Z","end_at":"2026-06-01T01:00:00Z"})");

  EXPECT_EQ(titles(kMay), (Titles{"Tea", "Holiday"}));
  EXPECT_EQ(titles("?from=2026-05-30T20:00:00Z&to=2026-05-30T21:00:00Z"), Titles{});
  EXPECT_EQ(titles("?from=2026-05-30T20:00:00Z&to=2026-05-30T21:00:00Z&timezone=Asia/Shanghai"),
            Titles{"Holiday"});
  EXPECT_EQ(titles(kMay, "bob"), Titles{});
}

TEST_F(CalendarRoute, TOOL_4_BadRangesAreRefused) {
  auto const list = [&](std::string const& query) { return refused(get(kEvents + query)); };
  EXPECT_EQ(list("?from=2026-05-01T00:00:00Z&to=2026-05-01T00:00:00Z"),
            "400 INVALID_REQUEST: 'to' must be after 'from'");
  EXPECT_EQ(list("?from=2026-05-01&to=2026-05-02"),
            "400 INVALID_REQUEST: 'from' must be an RFC 3339 instant with Z or an offset from UTC, such as "
            "2026-05-01T09:00:00+02:00");
  EXPECT_EQ(list("?from=2026-05-01T00:00:00Z&to=2028-05-01T00:00:00Z"),
            "400 INVALID_REQUEST: 'to' must be at most 366 days after 'from'");
  EXPECT_EQ(
      list(std::string{kMay} + "&timezone=Mars/Base"),
      "400 INVALID_REQUEST: 'timezone' must be a time zone in the IANA database, such as Europe/Berlin");
}

TEST_F(CalendarRoute, TOOL_4_BadBodiesAreRefusedAndAddNothing) {
  EXPECT_EQ(refused(post(kEvents, "{}")),
            "400 INVALID_REQUEST: /title is required;/start_at is required;/end_at is required;");
  EXPECT_EQ(
      refused(post(kEvents,
                   R"({"title":" ","start_at":"2026-05-01T09:00:00Z","end_at":"2026-05-01T10:00:00Z"})")),
      "400 INVALID_REQUEST: title must not be blank");
  EXPECT_EQ(refused(post(kEvents, R"({"mode":"batch","items":[]})")).substr(0, 20), "400 INVALID_REQUEST:");
  EXPECT_EQ(refused(patch(add(), "{}")), "400 INVALID_REQUEST:  must not be empty;");
  EXPECT_EQ(titles(kMay), Titles{"Tea"});
}

TEST_F(CalendarRoute, TOOL_12_PatchChangesWhatItSends) {
  auto const id = add();
  under_test.clock().now += 1000;

  auto const changed = patch(id, R"({"start_at":"2026-05-02T07:00:00Z","location":"Room 3"})");

  EXPECT_EQ(changed.status, 200) << changed.body;
  auto const shown = body(changed);
  EXPECT_EQ(shown.at("title"), "Tea");
  EXPECT_EQ(shown.at("end_at"), "2026-05-02T08:00:00.000Z");
  EXPECT_EQ(shown.at("location"), "Room 3");
  EXPECT_NE(shown.at("created_at"), shown.at("updated_at"));
}

TEST_F(CalendarRoute, TOOL_12_DeletedEventIsGone) {
  auto const id = add();

  EXPECT_EQ(del(id).status, 204);
  EXPECT_EQ(refused(del(id)), "404 NOT_FOUND: There is no such event or invitation.");
  EXPECT_EQ(get(event(id)).status, 404);
  EXPECT_EQ(patch(id, R"({"title":"x"})").status, 404);
  EXPECT_EQ(post(event(id) + "/share", R"({"user_ids":["bob"]})").status, 404);
}

TEST_F(CalendarRoute, TOOL_12_GuestAcceptsSeesAndLeaves) {
  auto const id = add();
  auto const invite = share(id, "bob");
  auto const listed = body(get(kInvites, "bob"));
  ASSERT_EQ(listed.at("count"), 1);
  EXPECT_EQ(listed.at("more"), false);
  EXPECT_EQ(listed.at("items").at(0).at("invite_id").as_string(), invite);
  EXPECT_EQ(listed.at("items").at(0).at("organizer"), "ann");

  auto const accepted = post(std::string{kInvites} + "/" + invite + "/accept", "", "bob");
  EXPECT_EQ(body(accepted).at("outcome"), "accepted");
  EXPECT_EQ(body(accepted).at("title"), "Tea");
  EXPECT_EQ(body(get(kInvites, "bob")).at("count"), 0);
  EXPECT_EQ(body(get(std::string{kInvites} + "?status=accepted", "bob")).at("count"), 1);
  EXPECT_EQ(body(get(event(id))).at("guests").at(0).at("status"), "accepted");
  EXPECT_FALSE(body(get(event(id), "bob")).contains("guests"));

  EXPECT_EQ(post(std::string{kInvites} + "/" + invite + "/reject", "", "bob").status, 200);
  EXPECT_EQ(get(event(id), "bob").status, 404);
  EXPECT_EQ(refused(get(std::string{kInvites} + "?status=maybe", "bob")).substr(0, 20),
            "400 INVALID_REQUEST:");
}

TEST_F(CalendarRoute, TOOL_12_GuestMayNotChangeTheEvent) {
  auto const id = add();
  share(id, "bob");

  for (auto const& response : {patch(id, R"({"title":"Mine"})", "bob"), del(id, "bob"),
                               post(event(id) + "/share", R"({"user_ids":["eve"]})", "bob")}) {
    EXPECT_EQ(response.status, 403);
    EXPECT_EQ(json::parse(response.body).at("error").at("code"), "NOT_ORGANIZER");
  }
  EXPECT_EQ(titles(kMay), Titles{"Tea"});
}

TEST_F(CalendarRoute, HTTP_3_AnothersEventAndInvitationDoNotExist) {
  auto const id = add();
  auto const invite = share(id, "bob");

  EXPECT_EQ(get(event(id), "eve").body, get(event("nothing"), "eve").body);
  EXPECT_EQ(patch(id, R"({"title":"x"})", "eve").status, 404);
  EXPECT_EQ(del(id, "eve").status, 404);
  EXPECT_EQ(post(event(id) + "/share", R"({"user_ids":["bob"]})", "eve").status, 404);
  for (auto const* const user : {"eve", "ann"}) {
    EXPECT_EQ(post(std::string{kInvites} + "/" + invite + "/accept", "", user).status, 404);
    EXPECT_EQ(post(std::string{kInvites} + "/" + invite + "/reject", "", user).status, 404);
  }
}

TEST(CalendarStorage, HTTP_9_WhoHasNoStorageLeftCanOnlyAnswerAndDelete) {
  ModuleUnderTest under_test{define(), 1};
  auto const ask = [&](api::Method method, std::string const& path, std::string body, char const* user) {
    return under_test.ask(method, path, std::move(body), user);
  };
  auto const added = ask(api::Method::post, kEvents, kTeaBody, "ann");
  ASSERT_EQ(added.status, 201) << added.body;
  auto const path =
      std::string{kEvents} + "/" + std::string{json::parse(added.body).at("event_id").as_string()};

  EXPECT_EQ(ask(api::Method::post, kEvents, kTeaBody, "ann").status, 507);
  EXPECT_EQ(ask(api::Method::patch, path, R"({"title":"x"})", "ann").status, 507);
  EXPECT_EQ(ask(api::Method::post, path + "/share", R"({"user_ids":["bob"]})", "ann").status, 507);
  EXPECT_EQ(ask(api::Method::del, path, "", "ann").status, 204);
  EXPECT_EQ(ask(api::Method::post, kEvents, kTeaBody, "ann").status, 201);
}

TEST_F(CalendarRoute, HTTP_9_ListShowsTheBeginningOfLongDescriptions) {
  std::string const face = "😀";
  auto const described = [&](std::string const& title, int length) {
    std::string text;
    for (int i = 0; i < length; ++i)
      text += face;
    auto event = json::parse(kTeaBody).as_object();
    event["title"] = title;
    event["description"] = text;
    return json::serialize(event);
  };
  auto const id = add(described("long", 4000));
  add(described("short", 500));

  auto const items = body(get(std::string{kEvents} + kMay)).at("items").as_array();

  ASSERT_EQ(items.size(), 2U);
  for (auto const& each : items) {
    auto const& item = each.as_object();
    EXPECT_EQ(item.at("description").as_string().size(), 500 * face.size());
    EXPECT_EQ(item.contains("description_cut"), item.at("title") == "long");
  }
  EXPECT_EQ(body(get(event(id))).at("description").as_string().size(), 4000 * face.size());
}

TEST_F(CalendarRoute, TOOL_12_ListOfMoreThan1000EventsIsRefused) {
  std::vector<store::SqlStatement> effects;
  for (int i = 0; i <= 1000; ++i) {
    Event event;
    event.id = "evt_" + std::to_string(i);
    event.title = "x";
    event.span = {1'777'593'600'000 + i * 1000, 1'777'593'601'000 + i * 1000};
    event.timezone = "UTC";
    effects.push_back(add_event(UserId{"ann"}, event, 1));
  }
  run_async(under_test.database().write(std::move(effects))).value();

  EXPECT_EQ(refused(get(std::string{kEvents} + kMay)),
            "400 TOO_MANY_RESULTS: There are more than 1000 events in this range. Ask for a shorter one.");
  EXPECT_EQ(titles("?from=2026-05-01T00:00:01Z&to=2026-06-01T00:00:00Z").size(), 1000U);
}

}  // namespace
}  // namespace runnel::modules::calendar
