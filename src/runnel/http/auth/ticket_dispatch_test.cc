#include <gtest/gtest.h>

#include "runnel/api/testing/run_handler.h"
#include "runnel/base/testing/chosen_clock.h"
#include "runnel/http/dispatcher.h"
#include "runnel/http/testing/single_ticket.h"
#include "runnel/http/testing/test_authenticator.h"
#include "runnel/http/testing/test_feed.h"
#include "tests/support/run_async.h"

// What a ticket gives access to, and what it does not (HTTP-4).
namespace runnel::http {
namespace {

using namespace std::chrono_literals;

boost::asio::awaitable<api::Reply> tell_holder(api::Request request) {
  co_return api::Response{
      200, "text/plain", request.user.text + (request.query("ticket") ? " has it" : ""), {}};
}

boost::asio::awaitable<api::Reply> stream(api::Request /*request*/) {
  co_return std::make_unique<EmptyFeed>();
}

api::Router ticket_routes() {
  api::Router router;
  router.add(api::Method::get, "/{thread_id}/events", api::Access::user_or_ticket, tell_holder);
  router.add(api::Method::get, "/{thread_id}/stream", api::Access::user_or_ticket, stream,
             {.answers = api::Answers::as_streams});
  router.add(api::Method::get, "/{thread_id}", api::Access::user, tell_holder);
  router.add(api::Method::get, "/open", api::Access::open, tell_holder);
  return router;
}

std::string const kTicket = SingleTicket::kTicket;

class TicketDispatch : public testing::Test {
 protected:
  TicketDispatch() {
    dispatcher =
        std::make_unique<Dispatcher>(ticket_routes(), authenticator, DispatcherOptions{{}, {}, &tickets});
  }

  static api::Request request(std::string path, api::Pairs query) {
    api::Request out;
    out.method = api::Method::get;
    out.path = std::move(path);
    out.query_items = std::move(query);
    return out;
  }
  std::string token() { return "Bearer " + authenticator->issue_token(UserId{"ann"}, 60s); }

  api::Reply ask(api::Request asked) {
    auto admitted = dispatcher->admit(asked);
    if (auto* refusal = std::get_if<api::Response>(&admitted)) return std::move(*refusal);
    auto const* route = std::get<api::Route const*>(admitted);
    auto refusal = run_async(dispatcher->redeem(route, &asked));
    if (refusal) return std::move(*refusal);
    return api::run_handler(dispatcher->answer(route, std::move(asked)));
  }
  api::Response answer(api::Request asked) { return std::get<api::Response>(ask(std::move(asked))); }
  api::Response answer(std::string path, api::Pairs query) {
    return answer(request(std::move(path), std::move(query)));
  }

  static bool is_invalid_ticket(api::Response const& response) {
    return response.status == 401 && response.body.find("INVALID_TICKET") != std::string::npos &&
           response.body.find("tkt_") == std::string::npos;
  }

  base::ChosenClock clock;
  SingleTicket tickets;
  std::shared_ptr<Authenticator const> authenticator =
      std::make_shared<Authenticator const>(test_authenticator(clock));
  std::unique_ptr<Dispatcher> dispatcher;
};

TEST_F(TicketDispatch, HTTP_4_TicketStandsForItsOwnerAndTheHandlerDoesNotSeeIt) {
  auto const response = answer("/t1/events", {{"runId", "r1"}, {"ticket", kTicket}});

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "ann");
}

TEST_F(TicketDispatch, HTTP_4_HeaderStillOpensTheRoute) {
  auto asked = request("/t1/events", {{"runId", "r1"}});
  EXPECT_EQ(answer(asked).status, 401);

  asked.headers = {{"Authorization", token()}};

  EXPECT_EQ(answer(asked).body, "ann");
}

TEST_F(TicketDispatch, HTTP_4_TicketOfOneRunOpensNoOther) {
  EXPECT_TRUE(is_invalid_ticket(answer("/t2/events", {{"runId", "r2"}, {"ticket", kTicket}})));
  EXPECT_TRUE(is_invalid_ticket(answer("/t2/events", {{"runId", "r1"}, {"ticket", kTicket}})));
  EXPECT_TRUE(is_invalid_ticket(answer("/t1/events", {{"runId", "r2"}, {"ticket", kTicket}})));
  EXPECT_TRUE(is_invalid_ticket(answer("/t1/events", {{"ticket", kTicket}})));
  EXPECT_TRUE(is_invalid_ticket(answer("/t1/events", {{"runId", "r1"}, {"ticket", ""}})));
  EXPECT_TRUE(is_invalid_ticket(answer("/t1/events", {{"runId", "r1"}, {"ticket", kTicket + "x"}})));
}

TEST_F(TicketDispatch, HTTP_4_TicketOpensNoOtherRoute) {
  auto const response = answer("/t1", {{"runId", "r1"}, {"ticket", kTicket}});

  EXPECT_EQ(response.status, 401);
  EXPECT_NE(response.body.find("UNAUTHORIZED"), std::string::npos);
  EXPECT_EQ(answer("/open", {{"ticket", kTicket}}).body, " has it")
      << "the request has no user, as without a ticket";
}

TEST_F(TicketDispatch, HTTP_4_HeaderAndTicketTogetherAreRefused) {
  auto asked = request("/t1/events", {{"runId", "r1"}, {"ticket", kTicket}});
  for (auto const& value : {token(), std::string{}}) {
    asked.headers = {{"authorization", value}};
    EXPECT_EQ(answer(asked).status, 400);
  }
}

TEST_F(TicketDispatch, HTTP_4_TwoTicketsAreRefused) {
  EXPECT_EQ(answer("/t1/events", {{"runId", "r1"}, {"ticket", kTicket}, {"ticket", kTicket}}).status, 400);
}

TEST_F(TicketDispatch, HTTP_4_TokenInAUrlIsRefusedOnEveryRoute) {
  for (char const* name :
       {"access_token", "token", "authorization", "bearer", "jwt", "Access_Token", "JWT"}) {
    for (char const* path : {"/t1/events", "/t1", "/open", "/none/of/these"}) {
      auto asked = request(path, {{"runId", "r1"}, {name, "abc"}});
      asked.headers = {{"Authorization", token()}};
      auto const response = answer(asked);
      EXPECT_EQ(response.status, 400) << name << " " << path;
      EXPECT_NE(response.body.find("TOKEN_IN_URL"), std::string::npos);
      EXPECT_EQ(response.body.find("abc"), std::string::npos);
    }
  }
  EXPECT_EQ(answer("/open", {{"tokens", "5"}}).status, 200);
}

TEST_F(TicketDispatch, HTTP_4_JwtIsNoTicket) {
  EXPECT_TRUE(is_invalid_ticket(answer("/t1/events", {{"runId", "r1"}, {"ticket", token().substr(7)}})));
}

TEST_F(TicketDispatch, HTTP_4_OpenStreamKeepsItsTicketInUse) {
  auto reply = ask(request("/t1/stream", {{"runId", "r1"}, {"ticket", kTicket}}));

  EXPECT_EQ(tickets.last_hash, "hash of it");
  EXPECT_EQ(tickets.in_use.use_count(), 2);
  std::get<std::unique_ptr<api::EventStream>>(reply).reset();
  EXPECT_EQ(tickets.in_use.use_count(), 1);
}

TEST_F(TicketDispatch, HTTP_4_WithoutTicketsNoneOpensAnything) {
  dispatcher = std::make_unique<Dispatcher>(ticket_routes(), authenticator);

  EXPECT_TRUE(is_invalid_ticket(answer("/t1/events", {{"runId", "r1"}, {"ticket", kTicket}})));
}

TEST_F(TicketDispatch, HTTP_3_RequestThatNobodyRedeemedReachesNoHandler) {
  auto asked = request("/t1/events", {{"runId", "r1"}, {"ticket", kTicket}});
  auto const* route = std::get<api::Route const*>(dispatcher->admit(asked));

  auto const reply = api::run_handler(dispatcher->answer(route, std::move(asked)));

  EXPECT_EQ(std::get<api::Response>(reply).status, 401);
}

}  // namespace
}  // namespace runnel::http
