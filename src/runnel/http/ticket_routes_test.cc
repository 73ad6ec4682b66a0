#include "runnel/http/ticket_routes.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/core/json_parse.h"
#include "runnel/http/body_check.h"
#include "runnel/http/openapi.h"
#include "runnel/http/run_handler.h"
#include "runnel/http/test_clock.h"
#include "runnel/store/sqlite_store.h"
#include "runnel/store/sqlite_under_test.h"
#include "runnel/store/store_contract.h"

namespace runnel::http {
namespace {

class TicketRoute : public testing::Test {
 protected:
  TicketRoute() {
    store::SqliteOptions options;
    options.path = folder.file("runnel.db");
    store = std::move(store::open_sqlite(std::move(options)).value());
    run_async(store->admit(store::admission("r1"))).value();
    tickets = std::make_unique<Tickets>(*store, clock);
    add_ticket_route(router, *tickets);
  }

  Response ask(std::string body, std::string user = "ann", std::int64_t token_expires_at = 0) {
    Request request;
    request.method = Method::post;
    request.user = UserId{std::move(user)};
    request.token_expires_at = token_expires_at;
    request.body = std::move(body);
    auto const match = router.match(Method::post, "/api/v1/auth/tickets");
    auto const* route = std::get<Router::Found>(match).route;
    EXPECT_EQ(route->access, Access::user);
    if (auto refusal = take_body(*route->operation, {}, request)) return std::move(*refusal);
    return std::get<Response>(run_handler(route->handler(std::move(request))));
  }

  store::TemporaryFolder folder;
  ChosenClock clock;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Tickets> tickets;
  Router router{openapi_contract()};
};

constexpr char kForRun[] = R"({"for":"sse","threadId":"t1","runId":"r1"})";

TEST_F(TicketRoute, HTTP_4_GivesATicketForTheAskersRun) {
  auto const response = ask(kForRun);

  ASSERT_EQ(response.status, 201);
  auto const body = boost::json::parse(response.body).as_object();
  EXPECT_EQ(body.size(), 2u);
  EXPECT_EQ(body.at("expiresAt"), "2027-01-15T08:01:00.000Z");
  auto const holder = run_async(
      tickets->open_stream(std::string{body.at("ticket").as_string()}, ThreadId{"t1"}, RunId{"r1"}));
  EXPECT_EQ(holder.value().owner.text, "ann");
}

TEST_F(TicketRoute, HTTP_4_GivesATicketForAWebSocket) {
  auto const response = ask(R"({"for":"websocket"})");

  ASSERT_EQ(response.status, 201);
  EXPECT_EQ(boost::json::parse(response.body).at("ticket").as_string().size(), 47u);
}

TEST_F(TicketRoute, HTTP_4_TicketEndsWithTheToken) {
  auto const response = ask(kForRun, "ann", 1'800'000'007);

  EXPECT_EQ(boost::json::parse(response.body).at("expiresAt"), "2027-01-15T08:00:07.000Z");
}

TEST_F(TicketRoute, HTTP_3_RunOfAnotherUserDoesNotExist) {
  auto const foreign = ask(kForRun, "bob");
  auto const missing = ask(R"({"for":"sse","threadId":"t1","runId":"r9"})");

  EXPECT_EQ(foreign.status, 404);
  EXPECT_EQ(foreign.body, missing.body);
}

TEST_F(TicketRoute, HTTP_1_WhatIsWrongIsNamed) {
  auto const unknown = ask(R"({"for":"sse","threadId":"t1","runId":"r1","colour":"red"})");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_NE(unknown.body.find("colour"), std::string::npos) << unknown.body;

  for (char const* body :
       {"[]", "{}", R"({"for":"tea"})", R"({"for":"sse"})", R"({"for":"sse","threadId":"t1"})",
        R"({"for":"sse","threadId":"t1","runId":""})", R"({"for":"sse","threadId":"t1","runId":7})",
        R"({"for":"websocket","runId":"r1"})"}) {
    auto const response = ask(body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_NE(response.body.find("INVALID_REQUEST"), std::string::npos) << body;
  }
}

}  // namespace
}  // namespace runnel::http
