#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <variant>

#include "runnel/modules/calendar/ics/calendar_text.h"
#include "runnel/modules/calendar/module.h"
#include "runnel/modules/calendar/repository.h"
#include "runnel/modules/testing/module_under_test.h"

namespace runnel::modules::calendar {
namespace {

namespace json = boost::json;

constexpr char kFeed[] = "/api/v1/calendar/feed";
constexpr char kFedEvents[] = "/api/v1/calendar/events";

class CalendarFeed : public testing::Test {
 protected:
  CalendarFeed() { under_test.clock().now = 1'777'618'800'000; }  // 2026-05-01T07:00:00Z

  api::Response ask(api::Method method, std::string const& path, std::string body = {},
                    std::string user = "ann") {
    return under_test.ask(method, path, std::move(body), std::move(user));
  }
  std::string make_feed(std::string user = "ann") {
    auto const made = ask(api::Method::post, kFeed, "", std::move(user));
    EXPECT_EQ(made.status, 201) << made.body;
    return std::string{json::parse(made.body).at("address").as_string()};
  }
  // As somebody who has no token.
  api::Response read(std::string const& address, api::Pairs headers = {}) {
    api::Request request;
    request.method = api::Method::get;
    request.path = address;
    request.headers = std::move(headers);
    return under_test.ask(std::move(request));
  }
  std::string add(std::string const& title, std::string const& start, std::string const& end,
                  std::string user = "ann") {
    auto const added =
        ask(api::Method::post, kFedEvents,
            R"({"title":")" + title + R"(","start_at":")" + start + R"(","end_at":")" + end + R"("})",
            std::move(user));
    EXPECT_EQ(added.status, 201) << added.body;
    return std::string{json::parse(added.body).at("event_id").as_string()};
  }
  std::string invite(std::string const& id, std::string const& owner, std::string const& guest) {
    auto const shared = ask(api::Method::post, kFedEvents + ("/" + id) + "/share",
                            R"({"user_ids":[")" + guest + R"("]})", owner);
    return std::string{json::parse(shared.body).at("items").at(0).at("invite_id").as_string()};
  }
  std::string accepted(std::string const& id, std::string const& owner, std::string const& guest) {
    auto const path = "/api/v1/calendar/invites/" + invite(id, owner, guest) + "/accept";
    EXPECT_EQ(ask(api::Method::post, path, "", guest).status, 200);
    return id;
  }
  static bool has_title(api::Response const& feed, std::string const& title) {
    return feed.body.find("\r\nSUMMARY:" + title + "\r\n") != std::string::npos;
  }
  static std::string header(api::Response const& response, std::string const& name) {
    for (auto const& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }

  ModuleUnderTest under_test{define()};
};

TEST_F(CalendarFeed, TOOL_12_AddressIsShownOnceAndReadsTheCalendar) {
  EXPECT_EQ(ask(api::Method::get, kFeed).body, R"({"active":false})");
  add("Tea", "2026-05-02T07:00:00Z", "2026-05-02T08:00:00Z");
  auto const address = make_feed();

  auto const feed = read(address);

  EXPECT_EQ(feed.status, 200);
  EXPECT_EQ(feed.content_type, "text/calendar; charset=utf-8");
  EXPECT_TRUE(has_title(feed, "Tea")) << feed.body;
  EXPECT_EQ(header(feed, "Cache-Control"), "private, no-cache");
  EXPECT_TRUE(address.starts_with("/api/v1/calendar/feeds/cal_") && address.ends_with(".ics")) << address;
  EXPECT_EQ(ask(api::Method::get, kFeed).body, R"({"active":true,"created_at":"2026-05-01T07:00:00.000Z"})");
}

TEST_F(CalendarFeed, TOOL_12_StoreKeepsNoAddress) {
  auto const address = make_feed();

  auto const rows =
      run_async(under_test.database().read(store::statement("SELECT owner_id, hash FROM calendar_feeds")));

  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->text(0, 0), "ann");
  EXPECT_EQ(rows->text(0, 1).size(), 64U);
  EXPECT_EQ(address.find(rows->text(0, 1)), std::string::npos);
}

TEST_F(CalendarFeed, TOOL_12_RenewedOrEndedAddressIsUnknown) {
  auto const first = make_feed();
  auto const second = make_feed();
  EXPECT_NE(first, second);
  EXPECT_EQ(read(first).status, 404);
  EXPECT_EQ(read(second).status, 200);

  EXPECT_EQ(ask(api::Method::del, kFeed).status, 204);
  EXPECT_EQ(ask(api::Method::del, kFeed).status, 204);

  EXPECT_EQ(read(second).status, 404);
  EXPECT_EQ(ask(api::Method::get, kFeed).body, R"({"active":false})");
}

TEST_F(CalendarFeed, TOOL_12_WrongAddressesAreUnknown) {
  auto const address = make_feed();

  for (auto const& wrong :
       {address.substr(0, address.size() - 4), address + "s", address.substr(0, address.size() - 5) + "!.ics",
        std::string{"/api/v1/calendar/feeds/x.ics"}, std::string{"/api/v1/calendar/feeds/.ics"},
        "/api/v1/calendar/feeds/cal_" + std::string(43, 'a') + ".ics"})
    EXPECT_EQ(read(wrong).status, 404) << wrong;
}

TEST_F(CalendarFeed, HTTP_3_FeedHasTheEventsOfItsUserAndThoseThatTheUserHasAccepted) {
  add("Mine", "2026-05-02T07:00:00Z", "2026-05-02T08:00:00Z");
  accepted(add("Accepted", "2026-05-03T07:00:00Z", "2026-05-03T08:00:00Z", "bob"), "bob", "ann");
  invite(add("Pending", "2026-05-03T07:00:00Z", "2026-05-03T08:00:00Z", "bob"), "bob", "ann");
  add("Other", "2026-05-02T07:00:00Z", "2026-05-02T08:00:00Z", "bob");

  auto const feed = read(make_feed());

  EXPECT_TRUE(has_title(feed, "Mine"));
  EXPECT_TRUE(has_title(feed, "Accepted"));
  EXPECT_FALSE(has_title(feed, "Pending"));
  EXPECT_FALSE(has_title(feed, "Other"));
}

TEST_F(CalendarFeed, TOOL_12_FeedBegins366DaysAgo) {
  add("Over", "2025-04-29T07:00:00Z", "2025-04-29T08:00:00Z");
  add("Ends then", "2024-05-02T07:00:00Z", "2025-05-01T08:00:00Z");
  add("Far", "9000-05-01T07:00:00Z", "9000-05-01T08:00:00Z");

  auto const feed = read(make_feed());

  EXPECT_FALSE(has_title(feed, "Over"));
  EXPECT_TRUE(has_title(feed, "Ends then"));
  EXPECT_TRUE(has_title(feed, "Far"));
}

TEST_F(CalendarFeed, TOOL_12_SameTextIsNotSentAgain) {
  auto const id = add("Tea", "2026-05-02T07:00:00Z", "2026-05-02T08:00:00Z");
  auto const address = make_feed();
  auto const tag = header(read(address), "ETag");

  under_test.clock().now += 3'600'000;
  auto const again = read(address, {{"If-None-Match", tag}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(header(again, "ETag"), tag);
  EXPECT_EQ(read(address, {{"If-None-Match", "W/\"other\", " + tag}}).status, 304);

  ask(api::Method::patch, kFedEvents + ("/" + id), R"({"title":"Coffee"})");
  auto const changed = read(address, {{"If-None-Match", tag}});
  EXPECT_EQ(changed.status, 200);
  EXPECT_NE(header(changed, "ETag"), tag);
}

TEST_F(CalendarFeed, TOOL_12_FeedWithTooManyEventsSaysSo) {
  std::vector<store::SqlStatement> effects;
  for (int i = 0; i <= 5000; ++i) {
    Event event;
    event.id = "evt_" + std::to_string(i);
    event.title = "x" + std::to_string(i);
    event.span = {1'777'593'600'000 + i * 1000, 1'777'593'601'000 + i * 1000};
    event.timezone = "UTC";
    effects.push_back(add_event(UserId{"ann"}, event, 1));
  }
  run_async(under_test.database().write(std::move(effects))).value();

  auto const feed = read(make_feed());

  EXPECT_NE(feed.body.find("X-WR-CALNAME:Runnel (not all events)"), std::string::npos);
  EXPECT_TRUE(has_title(feed, "x4999"));
  EXPECT_FALSE(has_title(feed, "x5000"));
}

TEST_F(CalendarFeed, HTTP_9_WholeFeedIsReservedWhileItIsMade) {
  api::Router router{std::make_shared<api::OpenApiContract const>(api::assemble_openapi({define().openapi}))};
  under_test.module().add_routes(router);

  auto const match = router.match(api::Method::get, "/api/v1/calendar/feeds/x.ics");

  EXPECT_GT(std::get<api::Router::Found>(match).route->options.answer_bytes, kMostFeedBytes);
}

}  // namespace
}  // namespace runnel::modules::calendar
