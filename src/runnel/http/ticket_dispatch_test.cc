#include <gtest/gtest.h>

#include "runnel/http/dispatcher.h"
#include "runnel/http/run_handler.h"
#include "runnel/http/test_clock.h"
#include "runnel/http/test_feed.h"
#include "runnel/http/test_keys.h"
#include "runnel/http/tickets.h"
#include "runnel/store/sqlite_store.h"
#include "runnel/store/sqlite_under_test.h"
#include "runnel/store/store_contract.h"

// What a ticket opens, and where it opens nothing (HTTP-4).
namespace runnel::http {
namespace {

using namespace std::chrono_literals;

boost::asio::awaitable<Reply> tell_holder(Request request) {
  co_return Response{200, "text/plain", request.user.text + (request.query("ticket") ? " has it" : ""), {}};
}

boost::asio::awaitable<Reply> stream(Request /*request*/) {
  co_return std::make_unique<EmptyFeed>();
}

Router ticket_routes() {
  Router router;
  router.add(Method::get, "/{thread_id}/events", Access::user_or_ticket, tell_holder);
  router.add(Method::get, "/{thread_id}/stream", Access::user_or_ticket, stream,
             {.answers = Answers::as_streams});
  router.add(Method::get, "/{thread_id}", Access::user, tell_holder);
  router.add(Method::get, "/open", Access::open, tell_holder);
  return router;
}

class TicketDispatch : public testing::Test {
 protected:
  TicketDispatch() {
    store::SqliteOptions options;
    options.path = folder.file("runnel.db");
    store = std::move(store::open_sqlite(std::move(options)).value());
    run_async(store->admit(store::admission("r1"))).value();
    run_async(store->admit(store::admission("r2", "t2"))).value();
    tickets = std::make_unique<Tickets>(*store, clock);
    dispatcher = std::make_unique<Dispatcher>(ticket_routes(), authenticator,
                                              DispatcherOptions{{}, {}, tickets.get()});
  }

  std::string mint() {
    TicketOrder order;
    order.owner = UserId{"ann"};
    order.thread = ThreadId{"t1"};
    order.run = RunId{"r1"};
    return run_async(tickets->mint(std::move(order))).value().ticket;
  }

  static Request request(std::string path, Pairs query) {
    Request out;
    out.method = Method::get;
    out.path = std::move(path);
    out.query_items = std::move(query);
    return out;
  }
  std::string token() { return "Bearer " + authenticator->issue_token(UserId{"ann"}, 60s); }

  Reply ask(Request asked) {
    auto admitted = dispatcher->admit(asked);
    if (auto* refusal = std::get_if<Response>(&admitted)) return std::move(*refusal);
    auto const* route = std::get<Route const*>(admitted);
    auto refusal = run_async(dispatcher->redeem(route, &asked));
    if (refusal) return std::move(*refusal);
    return run_handler(dispatcher->answer(route, std::move(asked)));
  }
  Response answer(Request asked) { return std::get<Response>(ask(std::move(asked))); }
  Response answer(std::string path, Pairs query) {
    return answer(request(std::move(path), std::move(query)));
  }

  static bool is_invalid_ticket(Response const& response) {
    return response.status == 401 && response.body.find("INVALID_TICKET") != std::string::npos &&
           response.body.find("tkt_") == std::string::npos;
  }

  store::TemporaryFolder folder;
  ChosenClock clock{store::kNow};
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Tickets> tickets;
  std::shared_ptr<Authenticator const> authenticator =
      std::make_shared<Authenticator const>(test_authenticator(clock));
  std::unique_ptr<Dispatcher> dispatcher;
};

TEST_F(TicketDispatch, HTTP_4_TicketStandsForItsOwnerAndTheHandlerDoesNotSeeIt) {
  auto const response = answer("/t1/events", {{"runId", "r1"}, {"ticket", mint()}});

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
  auto const ticket = mint();

  EXPECT_TRUE(is_invalid_ticket(answer("/t2/events", {{"runId", "r2"}, {"ticket", ticket}})));
  EXPECT_TRUE(is_invalid_ticket(answer("/t2/events", {{"runId", "r1"}, {"ticket", ticket}})));
  EXPECT_TRUE(is_invalid_ticket(answer("/t1/events", {{"runId", "r2"}, {"ticket", ticket}})));
  EXPECT_TRUE(is_invalid_ticket(answer("/t1/events", {{"ticket", ticket}})));
  EXPECT_TRUE(is_invalid_ticket(answer("/t1/events", {{"runId", "r1"}, {"ticket", ""}})));
  EXPECT_TRUE(is_invalid_ticket(answer("/t1/events", {{"runId", "r1"}, {"ticket", ticket + "x"}})));
}

TEST_F(TicketDispatch, HTTP_4_TicketOpensNoOtherRoute) {
  auto const response = answer("/t1", {{"runId", "r1"}, {"ticket", mint()}});

  EXPECT_EQ(response.status, 401);
  EXPECT_NE(response.body.find("UNAUTHORIZED"), std::string::npos);
  EXPECT_EQ(answer("/open", {{"ticket", mint()}}).body, " has it") << "nobody's, as without it";
}

TEST_F(TicketDispatch, HTTP_4_HeaderAndTicketTogetherAreRefused) {
  auto asked = request("/t1/events", {{"runId", "r1"}, {"ticket", mint()}});
  for (auto const& value : {token(), std::string{}}) {
    asked.headers = {{"authorization", value}};
    EXPECT_EQ(answer(asked).status, 400);
  }
}

TEST_F(TicketDispatch, HTTP_4_TwoTicketsAreRefused) {
  auto const ticket = mint();

  EXPECT_EQ(answer("/t1/events", {{"runId", "r1"}, {"ticket", ticket}, {"ticket", ticket}}).status, 400);
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
  auto const ticket = mint();
  auto reply = ask(request("/t1/stream", {{"runId", "r1"}, {"ticket", ticket}}));
  clock.now += 30 * 60'000;
  std::get<std::unique_ptr<EventFeed>>(reply).reset();
  run_async(tickets->renew()).value();

  clock.now += 599'999;

  EXPECT_EQ(answer("/t1/events", {{"runId", "r1"}, {"ticket", ticket}}).status, 200);
}

TEST_F(TicketDispatch, HTTP_4_WithoutTicketsNoneOpensAnything) {
  auto const ticket = mint();
  dispatcher = std::make_unique<Dispatcher>(ticket_routes(), authenticator);

  EXPECT_TRUE(is_invalid_ticket(answer("/t1/events", {{"runId", "r1"}, {"ticket", ticket}})));
}

TEST_F(TicketDispatch, HTTP_3_RequestThatNobodyRedeemedReachesNoHandler) {
  auto asked = request("/t1/events", {{"runId", "r1"}, {"ticket", mint()}});
  auto const* route = std::get<Route const*>(dispatcher->admit(asked));

  auto const reply = run_handler(dispatcher->answer(route, std::move(asked)));

  EXPECT_EQ(std::get<Response>(reply).status, 401);
}

}  // namespace
}  // namespace runnel::http
