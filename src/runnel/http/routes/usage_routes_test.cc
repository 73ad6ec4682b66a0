#include "runnel/http/routes/usage_routes.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/api/testing/run_handler.h"
#include "runnel/http/routes/report_gate.h"
#include "runnel/http/testing/openapi.h"
#include "runnel/store/sqlite/store.h"
#include "runnel/store/testing/ledger_contract.h"
#include "runnel/store/testing/sqlite_under_test.h"

namespace runnel::http {
namespace {

class UsageRoute : public testing::Test {
 protected:
  UsageRoute() {
    store::SqliteOptions options;
    options.path = folder.file("runnel.db");
    store = store::open_sqlite(std::move(options)).value();
    add_usage_route(router, *store);
    auto const run = run_async(store->admit(store::admission("r1"))).value();
    run_async(store->open_call(store::new_call("c1", run))).value();
    auto request = store::append_request(run.run, run.epoch, store::batch(3, 3));
    request.call_ends = {store::call_end("c1", Money{1'200'000'000})};
    run_async(store->append(request)).value();
  }

  api::Response ask(api::Pairs query, std::string user = "ann") {
    api::Request request;
    request.method = api::Method::get;
    request.user = UserId{std::move(user)};
    request.query_items = std::move(query);
    auto const match = router.match(api::Method::get, "/api/v1/usage");
    auto const* route = std::get<api::Router::Found>(match).route;
    EXPECT_EQ(route->access, api::Access::user);
    request.operation = route->operation;
    return std::get<api::Response>(api::run_handler(route->handler(std::move(request))));
  }

  store::TemporaryFolder folder;
  std::unique_ptr<store::Store> store;
  api::Router router{openapi_contract()};
};

constexpr char kSums[] =
    R"("calls":1,"inputTokens":100,"outputTokens":40,"cachedTokens":60,"reasoningTokens":15,"cost":"0.0012","usageComplete":true})";

TEST_F(UsageRoute, USE_8_GivesTheCallersTotal) {
  auto const response = ask({});

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, std::string{R"({"currency":"CNY","total":{)"} + kSums + R"(,"groups":[]})");
}

TEST_F(UsageRoute, USE_8_GroupsByThreadModelOrDay) {
  for (auto const& [group, key] :
       api::Pairs{{"thread", "t1"}, {"model", "deepseek-chat"}, {"day", "2023-11-14"}}) {
    auto const response = ask({{"groupBy", group}});

    EXPECT_EQ(response.body, std::string{R"({"currency":"CNY","total":{)"} + kSums +
                                 R"(,"groups":[{"key":")" + key + R"(",)" + kSums + "]}");
  }
}

TEST_F(UsageRoute, USE_8_TakesInstantsAndDates) {
  auto const calls = [&](std::string from, std::string to) {
    auto const response = ask({{"from", std::move(from)}, {"to", std::move(to)}, {"threadId", "t1"}});
    EXPECT_EQ(response.status, 200) << response.body;
    return boost::json::parse(response.body).at("total").at("calls").as_int64();
  };

  EXPECT_EQ(calls("2023-11-14", "2023-11-15"), 1);
  EXPECT_EQ(calls("2023-11-15", "2023-11-16"), 0);
  EXPECT_EQ(calls("2023-11-14T22:13:20Z", "2023-11-14T22:13:20.001Z"), 1);
  EXPECT_EQ(calls("2023-11-15T06:13:20+08:00", "2023-11-15"), 1);
  EXPECT_EQ(calls("2023-11-14", "2023-11-14T22:13:20Z"), 0) << "a call that begins at 'to' does not count";
}

TEST_F(UsageRoute, USE_8_GroupsComeInPages) {
  auto const run = run_async(store->admit(store::admission("r2", "t2"))).value();
  run_async(store->open_call(store::new_call("c2", run))).value();
  auto request = store::append_request(run.run, run.epoch, store::batch(3, 3));
  request.call_ends = {store::call_end("c2", Money{1'200'000'000})};
  run_async(store->append(request)).value();

  auto const first = boost::json::parse(ask({{"groupBy", "thread"}, {"limit", "1"}}).body);
  std::string const cursor{first.at("nextCursor").as_string()};
  auto const second =
      boost::json::parse(ask({{"groupBy", "thread"}, {"limit", "1"}, {"cursor", cursor}}).body);

  EXPECT_EQ(first.at("groups").at(0).at("key").as_string(), "t1");
  EXPECT_EQ(second.at("groups").at(0).at("key").as_string(), "t2");
  EXPECT_EQ(second.as_object().if_contains("nextCursor"), nullptr);
  EXPECT_EQ(first.at("total"), second.at("total"));
  EXPECT_EQ(ask({{"groupBy", "thread"}, {"cursor", "t1"}}).status, 400) << "not a cursor";
  EXPECT_EQ(ask({{"groupBy", "model"}, {"cursor", cursor}}).status, 400) << "a cursor of another report";
  EXPECT_EQ(ask({{"cursor", cursor}}).status, 400);
}

TEST(ReportGate, USE_8_OneUserLeavesRoomForOthersAndAllTogetherAreBounded) {
  using Verdict = ReportGate::Verdict;
  auto const gate = std::make_shared<ReportGate>(ReportGate::Limits{2, 3});
  UserId const ann{"ann"};
  UserId const bob{"bob"};
  {
    ReportGate::Slot const first{gate, ann};
    ReportGate::Slot const second{gate, ann};
    EXPECT_EQ(second.verdict(), Verdict::enters);
    EXPECT_EQ((ReportGate::Slot{gate, ann}.verdict()), Verdict::user_has_enough);
    ReportGate::Slot const other{gate, bob};
    EXPECT_EQ(other.verdict(), Verdict::enters);
    EXPECT_EQ((ReportGate::Slot{gate, bob}.verdict()), Verdict::full);
  }
  EXPECT_EQ((ReportGate::Slot{gate, ann}.verdict()), Verdict::enters);
}

TEST_F(UsageRoute, HTTP_2_WhatIsWrongIsTold) {
  for (auto const& [query, told] :
       {std::pair{api::Pairs{{"groupBy", "week"}}, "'groupBy' must be thread, model or day"},
        std::pair{api::Pairs{{"groupBy", ""}}, "'groupBy' must be"},
        std::pair{api::Pairs{{"limit", "1001"}}, "'limit' must be a whole number from 1 to 1000"},
        std::pair{api::Pairs{{"from", "1"}}, "'from' must be"},
        std::pair{api::Pairs{{"to", "soon"}}, "'to' must be"},
        std::pair{api::Pairs{{"from", "2026-01-02"}, {"to", "2026-01-01"}},
                  "'from' must not be after 'to'"}}) {
    auto const response = ask(query);

    EXPECT_EQ(response.status, 400);
    EXPECT_NE(response.body.find("INVALID_REQUEST"), std::string::npos) << response.body;
    EXPECT_NE(response.body.find(told), std::string::npos) << response.body;
  }
}

TEST_F(UsageRoute, HTTP_3_OthersSeeNothingOfIt) {
  EXPECT_EQ(boost::json::parse(ask({}, "bob").body).at("total").at("calls").as_int64(), 0);
  auto const foreign = ask({{"threadId", "t1"}}, "bob");
  auto const missing = ask({{"threadId", "never"}}, "bob");

  EXPECT_EQ(foreign.status, 404);
  EXPECT_EQ(foreign.body, missing.body);
  EXPECT_NE(foreign.body.find("NOT_FOUND"), std::string::npos);
}

}  // namespace
}  // namespace runnel::http
