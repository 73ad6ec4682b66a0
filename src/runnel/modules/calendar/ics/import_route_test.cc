#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>

#include "runnel/modules/calendar/module.h"
#include "runnel/modules/testing/module_under_test.h"

namespace runnel::modules::calendar {
namespace {

namespace json = boost::json;

constexpr char kImport[] = "/api/v1/calendar/import";
constexpr char kImportedEvents[] = "/api/v1/calendar/events";
constexpr char kInMay[] = "?from=2026-05-01T00:00:00Z&to=2026-06-01T00:00:00Z";

std::string event(std::string const& uid, std::string const& title, std::string const& more = "") {
  return "BEGIN:VEVENT\r\nUID:" + uid + "\r\nSUMMARY:" + title +
         "\r\nDTSTART:20260502T070000Z\r\nDTEND:20260502T080000Z\r\n" + more + "END:VEVENT\r\n";
}

std::string file(std::string const& events) {
  return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + events + "END:VCALENDAR\r\n";
}

class CalendarImport : public testing::Test {
 protected:
  explicit CalendarImport(std::int64_t storage_bytes = 0) : under_test{define(), storage_bytes} {}

  api::Response ask(api::Method method, std::string const& path, std::string body = {},
                    std::string user = "ann") {
    return under_test.ask(method, path, std::move(body), std::move(user));
  }
  api::Response import(std::string body, std::string user = "ann", std::string const& query = "") {
    return ask(api::Method::post, kImport + query, std::move(body), std::move(user));
  }
  // The outcomes, and of a failure its code.
  std::string outcomes(std::string body, std::string user = "ann") {
    auto const response = import(std::move(body), std::move(user));
    EXPECT_EQ(response.status, 200) << response.body;
    std::string out;
    auto const told = json::parse(response.body);
    for (auto const& item : told.at("items").as_array()) {
      auto const* const error = item.as_object().if_contains("error");
      out += (out.empty() ? "" : " ") +
             std::string{(error != nullptr ? error->at("code") : item.at("outcome")).as_string()};
    }
    return out;
  }
  json::array events(std::string user = "ann") {
    auto const listed = ask(api::Method::get, std::string{kImportedEvents} + kInMay, "", std::move(user));
    return json::parse(listed.body).at("items").as_array();
  }
  static std::string id_of(api::Response const& made) {
    return std::string{json::parse(made.body).at("event_id").as_string()};
  }
  // The guest's invitation to the event, which the guest has accepted.
  std::string accept(std::string const& id, std::string const& owner, std::string const& guest) {
    auto const invited = ask(api::Method::post, std::string{kImportedEvents} + "/" + id + "/share",
                             R"({"user_ids":[")" + guest + R"("]})", owner);
    auto invite = std::string{json::parse(invited.body).at("items").at(0).at("invite_id").as_string()};
    EXPECT_EQ(ask(api::Method::post, "/api/v1/calendar/invites/" + invite + "/accept", "", guest).status,
              200);
    return invite;
  }
  std::string feed_of(std::string const& user) {
    auto const made = ask(api::Method::post, "/api/v1/calendar/feed", "", user);
    return ask(api::Method::get, std::string{json::parse(made.body).at("address").as_string()}).body;
  }
  std::string title() { return std::string{events().at(0).at("title").as_string()}; }
  // As the user does it.
  void rename(std::string const& title) {
    auto const path =
        std::string{kImportedEvents} + "/" + std::string{events().at(0).at("event_id").as_string()};
    EXPECT_EQ(ask(api::Method::patch, path, R"({"title":")" + title + R"("})").status, 200);
  }
  static std::string code(api::Response const& response) {
    return std::to_string(response.status) + " " +
           std::string{json::parse(response.body).at("error").at("code").as_string()};
  }

  ModuleUnderTest under_test;
};

TEST_F(CalendarImport, TOOL_12_EachEventHasItsOutcome) {
  auto const response = import(file(event("1", "Tea") + event("2", "") + event("3", "Coffee")));

  ASSERT_EQ(response.status, 200) << response.body;
  auto const told = json::parse(response.body);
  EXPECT_EQ(told.at("count"), 3);
  EXPECT_EQ(told.at("failed"), 1);
  EXPECT_EQ(told.at("items").at(0).at("outcome"), "created");
  EXPECT_EQ(told.at("items").at(1),
            json::parse(R"({"index":1,"outcome":"failed","error":{"code":"UNSUPPORTED_EVENT",)"
                        R"("message":"SUMMARY is missing or blank"}})"));
  EXPECT_EQ(told.at("items").at(2).at("index"), 2);
  auto const id = told.at("items").at(2).at("event_id").as_string();
  EXPECT_EQ(events().size(), 2U);
  EXPECT_EQ(ask(api::Method::get, std::string{kImportedEvents} + "/" + std::string{id}).status, 200);
}

TEST_F(CalendarImport, TOOL_12_SameFileTwiceChangesNothing) {
  auto const twice = file(event("1", "Tea", "SEQUENCE:1\r\n") + event("2", "Coffee"));
  EXPECT_EQ(outcomes(twice), "created created");
  auto const before = events();
  under_test.clock().now += 60'000;

  EXPECT_EQ(outcomes(twice), "unchanged unchanged");

  EXPECT_EQ(events(), before);
}

TEST_F(CalendarImport, TOOL_12_NewerVersionReplacesAnOlderOneAndNotTheReverse) {
  auto const version = [](std::string const& title, int sequence, std::string const& modified) {
    return file(
        event("1", title, "SEQUENCE:" + std::to_string(sequence) + "\r\nLAST-MODIFIED:" + modified + "\r\n"));
  };
  EXPECT_EQ(outcomes(version("Tea", 1, "20260401T000000Z")), "created");

  EXPECT_EQ(outcomes(version("Coffee", 2, "20260401T000000Z")), "updated");
  EXPECT_EQ(outcomes(version("Milk", 2, "20260402T000000Z")), "updated");
  EXPECT_EQ(outcomes(version("Water", 2, "20260401T000000Z")), "OUTDATED_EVENT");
  EXPECT_EQ(outcomes(version("Tea", 1, "20260501T000000Z")), "OUTDATED_EVENT");

  EXPECT_EQ(events().size(), 1U);
  EXPECT_EQ(title(), "Milk");
}

TEST_F(CalendarImport, TOOL_12_WhatTheUserHasChangedStaysUntilTheFileChanges) {
  EXPECT_EQ(outcomes(file(event("1", "Tea"))), "created");
  rename("My tea");

  EXPECT_EQ(outcomes(file(event("1", "Tea"))), "unchanged");
  EXPECT_EQ(title(), "My tea");
  EXPECT_EQ(outcomes(file(event("1", "Tea at five"))), "updated");
  EXPECT_EQ(title(), "Tea at five");
}

TEST_F(CalendarImport, TOOL_12_OlderFeedDoesNotUndoAChange) {
  EXPECT_EQ(outcomes(file(event("1", "Tea", "LAST-MODIFIED:20260401T000000Z\r\n"))), "created");
  auto const first = feed_of("ann");
  rename("My tea");
  auto const second = feed_of("ann");
  rename("Our tea");

  EXPECT_EQ(outcomes(second), "OUTDATED_EVENT");
  EXPECT_EQ(outcomes(first), "unchanged");
  EXPECT_EQ(title(), "Our tea");
}

TEST_F(CalendarImport, TOOL_12_OlderFeedDoesNotUndoWhatWasChangedBackOrImported) {
  auto const version = [](std::string const& title, std::string const& modified) {
    return file(event("1", title, "CREATED:20260101T000000Z\r\nLAST-MODIFIED:" + modified + "\r\n"));
  };
  under_test.clock().now = 1'777'618'800'000;  // 2026-05-01T07:00:00Z
  EXPECT_EQ(outcomes(version("Tea", "20260401T000000Z")), "created");
  rename("My tea");
  auto const older = feed_of("ann");
  rename("Tea");

  EXPECT_EQ(outcomes(older), "OUTDATED_EVENT");
  EXPECT_EQ(outcomes(version("Milk", "20260402T000000Z")), "updated");
  EXPECT_EQ(outcomes(older), "OUTDATED_EVENT");

  EXPECT_EQ(title(), "Milk");
}

TEST_F(CalendarImport, TOOL_12_LaterOfTwoChangesStays) {
  auto const version = [](std::string const& title, std::string const& stamps) {
    return file(event("1", title, stamps));
  };
  under_test.clock().now = 1'777'618'800'000;  // 2026-05-01T07:00:00Z
  EXPECT_EQ(outcomes(version("Tea", "LAST-MODIFIED:20260401T000000Z\r\n")), "created");
  EXPECT_EQ(outcomes(version("Milk", "SEQUENCE:1\r\nLAST-MODIFIED:20260402T000000Z\r\n")), "updated");
  rename("My milk");

  EXPECT_EQ(outcomes(version("Water", "SEQUENCE:2\r\nLAST-MODIFIED:20260501T070000Z\r\n")), "OUTDATED_EVENT");
  EXPECT_EQ(outcomes(version("Coffee", "SEQUENCE:2\r\nLAST-MODIFIED:20260501T070001Z\r\n")), "updated");
  EXPECT_EQ(outcomes(version("Water", "SEQUENCE:3\r\nLAST-MODIFIED:20260402T000000Z\r\n")), "updated");

  EXPECT_EQ(title(), "Water");
}

TEST_F(CalendarImport, HTTP_3_UidsOfUsersHaveNothingToDoWithEachOther) {
  EXPECT_EQ(outcomes(file(event("1", "Tea"))), "created");
  auto const id = std::string{events().at(0).at("event_id").as_string()};

  EXPECT_EQ(outcomes(file(event("1", "Bob's") + event(id, "Stolen")), "bob"), "created created");

  EXPECT_EQ(title(), "Tea");
  EXPECT_EQ(events("bob").size(), 2U);
}

TEST_F(CalendarImport, TOOL_12_OwnFeedChangesNothing) {
  ask(api::Method::post, kImportedEvents,
      R"({"title":"Tea","start_at":"2026-05-02T07:00:00.250Z","end_at":"2026-05-02T08:00:00Z","reminders":[10]})");
  auto const shared =
      ask(api::Method::post, kImportedEvents,
          R"({"title":"Bob's","start_at":"2026-05-02T07:00:00Z","end_at":"2026-05-02T08:00:00Z"})", "bob");
  accept(id_of(shared), "bob", "ann");

  EXPECT_EQ(outcomes(feed_of("ann")), "unchanged unchanged");
  EXPECT_EQ(events().size(), 2U);
}

TEST_F(CalendarImport, TOOL_12_OwnFeedChangesNothingIfTheOrganizerHasImportedTheEvent) {
  auto const public_file = file(event("1", "Tea", "BEGIN:VALARM\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n"));
  EXPECT_EQ(outcomes(public_file, "bob"), "created");
  accept(std::string{events("bob").at(0).at("event_id").as_string()}, "bob", "ann");
  EXPECT_EQ(outcomes(feed_of("ann")), "unchanged");

  EXPECT_EQ(outcomes(public_file), "created");
  auto const feed = feed_of("ann");

  EXPECT_EQ(outcomes(feed), "unchanged unchanged");
  EXPECT_EQ(events().size(), 2U);
}

TEST_F(CalendarImport, TOOL_12_GuestCannotChangeTheEventByAFile) {
  EXPECT_EQ(outcomes(file(event("1", "Tea")), "bob"), "created");
  auto const id = std::string{events("bob").at(0).at("event_id").as_string()};
  auto const invite = accept(id, "bob", "ann");
  auto const feed = feed_of("ann");

  EXPECT_EQ(outcomes(file(event(invite, "Coffee", "SEQUENCE:9\r\n"))), "NOT_ORGANIZER");
  EXPECT_EQ(outcomes(file(event(id, "Coffee", "SEQUENCE:9\r\n"))), "NOT_ORGANIZER");
  EXPECT_EQ(title(), "Tea");
  ask(api::Method::post, "/api/v1/calendar/invites/" + invite + "/reject");
  EXPECT_EQ(outcomes(feed), "NOT_ORGANIZER");
  EXPECT_EQ(events().size(), 0U);
}

TEST_F(CalendarImport, TOOL_12_DeletedEventCanBeImportedAgain) {
  EXPECT_EQ(outcomes(file(event("1", "Tea"))), "created");
  auto const path =
      std::string{kImportedEvents} + "/" + std::string{events().at(0).at("event_id").as_string()};
  ask(api::Method::del, path);

  EXPECT_EQ(outcomes(file(event("1", "Tea"))), "created");
}

TEST_F(CalendarImport, TOOL_12_TimesWithoutAZoneAreInTheGivenOne) {
  auto const floating =
      file("BEGIN:VEVENT\nUID:1\nSUMMARY:Tea\nDTSTART:20260502T150000\nDTEND:20260502T160000\nEND:VEVENT\n");

  EXPECT_EQ(import(floating, "ann", "?timezone=Asia/Shanghai").status, 200);

  EXPECT_EQ(events().at(0).at("start_at"), "2026-05-02T07:00:00.000Z");
  EXPECT_EQ(events().at(0).at("timezone"), "Asia/Shanghai");
  EXPECT_EQ(code(import(floating, "ann", "?timezone=Mars/Base")), "400 INVALID_REQUEST");
}

TEST_F(CalendarImport, TOOL_12_BrokenFileAddsNothing) {
  for (auto const& broken : {std::string{}, std::string{"{}"}, "BEGIN:VCALENDAR\r\n" + event("1", "Tea"),
                             file("BEGIN:\r\n"), file(std::string{"X:\0\r\n", 5})})
    EXPECT_EQ(code(import(broken)), "400 INVALID_CALENDAR") << broken;
  std::string many;
  for (int i = 0; i < 1001; ++i)
    many += event(std::to_string(i), "Tea");

  EXPECT_EQ(code(import(file(many))), "400 TOO_MANY_EVENTS");
  EXPECT_EQ(events().size(), 0U);
}

TEST_F(CalendarImport, TOOL_12_ThousandEventsAreImported) {
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += event(std::to_string(i), "Tea");

  auto const told = json::parse(import(file(many)).body);

  EXPECT_EQ(told.at("count"), 1000);
  EXPECT_EQ(told.at("failed"), 0);
  EXPECT_EQ(events().size(), 1000U);
}

class CalendarImportStorage : public CalendarImport {
 protected:
  CalendarImportStorage() : CalendarImport{10'000} {}
};

TEST_F(CalendarImportStorage, HTTP_9_ImportStopsWhenTheStorageIsFull) {
  std::string many;
  for (int i = 0; i < 200; ++i)
    many += event(std::to_string(i), "Tea");

  auto const told = outcomes(file(many));

  EXPECT_NE(told.find("created STORAGE_QUOTA_EXCEEDED"), std::string::npos);
  EXPECT_EQ(code(import(file(event("x", "Tea")))), "507 STORAGE_QUOTA_EXCEEDED");
  for (auto const& item : events())
    ask(api::Method::del, std::string{kImportedEvents} + "/" + std::string{item.at("event_id").as_string()});
  EXPECT_EQ(outcomes(file(event("x", "Tea"))), "created");
}

}  // namespace
}  // namespace runnel::modules::calendar
