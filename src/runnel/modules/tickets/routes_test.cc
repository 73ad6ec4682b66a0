#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/modules/testing/module_under_test.h"
#include "runnel/modules/tickets/module.h"
#include "runnel/modules/tickets/tickets.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::modules::tickets {
namespace {

class TicketRoute : public testing::Test {
 protected:
  TicketRoute() { run_async(under_test.database().admit(store::admission("r1"))).value(); }

  api::Response ask(std::string body, std::string user = "ann", std::int64_t token_expires_at = 0) {
    return under_test.ask(api::Method::post, "/api/v1/auth/tickets", std::move(body), std::move(user),
                          token_expires_at);
  }

  ModuleUnderTest under_test{define()};
  base::ChosenClock& clock = under_test.clock();
  Tickets& tickets = dynamic_cast<Tickets&>(under_test.module());
};

constexpr char kForRun[] = R"({"for":"sse","threadId":"t1","runId":"r1"})";

TEST_F(TicketRoute, HTTP_4_GivesATicketForTheAskersRun) {
  auto const response = ask(kForRun);

  ASSERT_EQ(response.status, 201);
  auto const body = boost::json::parse(response.body).as_object();
  EXPECT_EQ(body.size(), 2u);
  EXPECT_EQ(body.at("expiresAt"), "2027-01-15T08:01:00.000Z");
  auto const holder =
      run_async(tickets.open_stream(std::string{body.at("ticket").as_string()}, ThreadId{"t1"}, RunId{"r1"}));
  EXPECT_EQ(holder.value().owner.text, "ann");
}

TEST_F(TicketRoute, HTTP_4_GivesATicketForAWebSocket) {
  auto const response = ask(R"({"for":"websocket"})");

  ASSERT_EQ(response.status, 201);
  EXPECT_EQ(boost::json::parse(response.body).at("ticket").as_string().size(), 47u);
}

TEST_F(TicketRoute, HTTP_4_GivesATicketForAWholeThread) {
  EXPECT_EQ(ask(R"({"for":"sse","threadId":"t1"})").status, 201);
  EXPECT_EQ(ask(R"({"for":"sse","threadId":"t1"})", "bob").status, 404);
  EXPECT_EQ(ask(R"({"for":"sse","threadId":"t9"})").status, 404);
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
       {"[]", "{}", R"({"for":"tea"})", R"({"for":"sse"})", R"({"for":"sse","runId":"r1"})",
        R"({"for":"sse","threadId":"t1","runId":""})", R"({"for":"sse","threadId":"t1","runId":7})",
        R"({"for":"websocket","runId":"r1"})"}) {
    auto const response = ask(body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_NE(response.body.find("INVALID_REQUEST"), std::string::npos) << body;
  }
}

TEST_F(TicketRoute, HTTP_4_ATicketIsOrderedForOneThing) {
  auto const first_problem = [this](std::string body) {
    auto const error = boost::json::parse(ask(std::move(body)).body).at("error");
    auto const& first = error.at("details").at("violations").at(0);
    return boost::json::value_to<std::string>(first.at("path")) + " " +
           boost::json::value_to<std::string>(first.at("problem"));
  };

  EXPECT_EQ(first_problem(R"({"for":"sse","runId":"r"})"), "/threadId is required");
  EXPECT_EQ(first_problem(R"({"for":"websocket","runId":"r"})"), "/runId is not known; known: for");
  EXPECT_EQ(first_problem(R"({"for":"sse","threadId":"t","runId":""})"), "/runId must not be empty");
  EXPECT_EQ(first_problem(R"({"for":"mail"})"), "/for must be one of sse or websocket");
}

}  // namespace
}  // namespace runnel::modules::tickets
