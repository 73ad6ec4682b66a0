#include "runnel/http/routes/stage_routes.h"

#include <boost/json.hpp>

#include <utility>

#include "runnel/api/testing/run_handler.h"
#include "runnel/core/fact/fact_json.h"
#include "runnel/http/testing/openapi.h"
#include "runnel/store/testing/ledger_contract.h"

namespace runnel::http {
namespace {

using namespace store;

class StagesRoute : public LedgerContract {
 protected:
  void SetUp() override {
    LedgerContract::SetUp();
    if (!IsSkipped()) add_stages_route(router_, store(), reading_);
  }

  // The next batch of r1's log. The facts come a second after each other.
  LogBatch facts(std::vector<Fact> const& said) {
    auto const first = next_n_;
    std::string body;
    for (auto const& fact : said) {
      Record record;
      record.position = {run_.epoch, next_n_};
      record.time_us = kNow * 1000 + static_cast<std::int64_t>(next_n_) * 1'000'000;
      record.fact = fact;
      body += body.empty() ? "[" : ",";
      append_record_json(body, record);
      ++next_n_;
    }
    return batch(first, next_n_ - 1, body + "]");
  }
  void say(std::vector<Fact> const& said, std::vector<Checkpoint> checkpoints = {}) {
    auto request = append_request(run_.run, run_.epoch, facts(said));
    request.checkpoints = std::move(checkpoints);
    ASSERT_TRUE(run_async(store().append(std::move(request))));
  }
  void say_end(std::vector<Fact> const& said, RunStatus status) {
    end(run_.run, run_.epoch, facts(said), status);
  }

  api::Response ask(std::string user = "ann", std::string run = "r1") {
    auto const match = router_.match(api::Method::get, "/api/v1/agent/runs/t1/stages");
    auto const& found = std::get<api::Router::Found>(match);
    EXPECT_EQ(found.route->access, api::Access::user);
    api::Request request;
    request.method = api::Method::get;
    request.user = UserId{std::move(user)};
    request.params = found.params;
    if (!run.empty()) request.query_items = {{"runId", std::move(run)}};
    request.operation = found.route->operation;
    return std::get<api::Response>(api::run_handler(found.route->handler(std::move(request))));
  }
  boost::json::value stages() {
    auto const response = ask();
    EXPECT_EQ(response.status, 200) << response.body;
    return boost::json::parse(response.body);
  }

 private:
  base::FairPool reading_{1, 4};
  api::Router router_{openapi_contract()};
};

Checkpoint stage_end(std::int64_t number, std::string stage, std::string const& result) {
  return {
      number, std::move(stage), "stage",
      R"({"result":)" + boost::json::serialize(boost::json::string{result}) + R"(,"label":"","usage":[]})"};
}

TEST_P(StagesRoute, RUN_5_ARunThatIsUnderWayShowsWhatItHasDone) {
  ASSERT_TRUE(open("c1"));
  ASSERT_TRUE(append({}, {call_end("c1", Money{1'200'000'000})}));
  say({StepStarted{"answer"}});
  say({StepFinished{"answer"}, StepStarted{"worker"}}, {stage_end(1, "answer", R"({"route":"X"})")});

  EXPECT_EQ(
      ask().body,
      R"({"threadId":"t1","runId":"r1","status":"running","currency":"CNY","stages":[)"
      R"({"name":"answer","status":"completed","startedAt":"2023-11-14T22:13:24.000Z",)"
      R"("endedAt":"2023-11-14T22:13:25.000Z","models":["deepseek-chat"],"inputTokens":100,"outputTokens":40,)"
      R"("cost":"0.0012","usageComplete":true,"repairs":0,"toolCalls":[],"result":{"route":"X"}},)"
      R"({"name":"worker","status":"running","startedAt":"2023-11-14T22:13:26.000Z","models":[],"inputTokens":0,)"
      R"("outputTokens":0,"cost":"0","usageComplete":true,"repairs":0,"toolCalls":[],"result":null}]})");
}

TEST_P(StagesRoute, RUN_5_ToolCallsAreOpenUntilTheyHaveAResult) {
  say({StepStarted{"worker"}, ToolCallStarted{MessageId{"m"}, ToolCallId{"k1"}, "project_cli", "worker"},
       ToolStarted{"a", ToolCallId{"k1"}, "calendar.read", {}, "p"}});
  EXPECT_EQ(stages().at_pointer("/stages/0/toolCalls/0/status").as_string(), "open");

  ToolResult result;
  result.call = ToolCallId{"k1"};
  result.stage = "worker";
  result.status = ToolStatus::partial;
  say({result});

  EXPECT_EQ(boost::json::serialize(stages().at_pointer("/stages/0/toolCalls")),
            R"([{"id":"k1","name":"calendar.read","status":"partial","startedAt":"2023-11-14T22:13:25.000Z",)"
            R"("endedAt":"2023-11-14T22:13:26.000Z"}])");
}

TEST_P(StagesRoute, RUN_5_AnEndedRunIsShownAsItEnded) {
  say({StepStarted{"worker"}});
  say_end({StepFinished{"worker"}, RunCanceled{}}, RunStatus::canceled);

  auto const shown = stages();

  EXPECT_EQ(shown.at("status").as_string(), "canceled");
  EXPECT_EQ(shown.at_pointer("/stages/0/status").as_string(), "canceled");
  EXPECT_TRUE(shown.at_pointer("/stages/0/result").is_null());
}

TEST_P(StagesRoute, RUN_5_ALogOfManyPagesIsReadToItsEnd) {
  TextDelta delta;
  delta.text = std::string(50'000, 'x');
  say({StepStarted{"router"}});
  for (int i = 0; i < 8; ++i)
    say({delta});
  say({StepFinished{"router"}, StepStarted{"worker"}});

  EXPECT_EQ(stages().at("stages").as_array().size(), 2U);
}

TEST_P(StagesRoute, HTTP_9_ALongResultIsLeftOut) {
  auto const result_of = [](std::size_t size) { return R"({"a":")" + std::string(size - 8, 'x') + R"("})"; };
  say({StepStarted{"router"}, StepFinished{"router"}, StepStarted{"worker"}, StepFinished{"worker"},
       StepStarted{"last"}},
      {stage_end(1, "router", result_of(64 * 1024)), stage_end(2, "worker", result_of(64 * 1024 + 1))});

  auto const shown = stages();

  EXPECT_EQ(shown.at_pointer("/stages/0/result/a").as_string().size(), 64U * 1024 - 8);
  EXPECT_EQ(boost::json::serialize(shown.at_pointer("/stages/1/result")),
            R"({"omitted":true,"bytes":65537})");
}

TEST_P(StagesRoute, HTTP_3_AnothersRunAndOneThatDoesNotExistLookTheSame) {
  auto const foreign = ask("bob");
  auto const missing = ask("ann", "r2");

  EXPECT_EQ(foreign.status, 404);
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(foreign.body, missing.body);
  EXPECT_EQ(ask("ann", "").status, 400);
}

TEST_P(StagesRoute, SSE_4_TheStagesOfAnExpiredLogAreGone) {
  say({StepStarted{"worker"}});
  say_end({StepFinished{"worker"}, RunFinished{}}, RunStatus::completed);
  ASSERT_EQ(ask().status, 200);
  ASSERT_EQ(run_async(store().expire_logs(kNow + 1'000'000, 10)).value(), 1U);

  auto const response = ask();

  EXPECT_EQ(response.status, 410);
  auto const error = boost::json::parse(response.body).at("error");
  EXPECT_EQ(error.at("code").as_string(), "EVENTS_EXPIRED");
  EXPECT_EQ(error.at("details").at("historyUrl").as_string(), "/api/v1/agent/history?threadId=t1");
}

TEST_P(StagesRoute, SSE_4_ALogThatCannotBeReadIsGone) {
  auto const broken = batch(next_n_, next_n_, R"([{"fact":"step_started"}])");
  ASSERT_TRUE(run_async(store().append(append_request(run_.run, run_.epoch, broken))));

  EXPECT_EQ(ask().status, 410);
}

TEST_P(StagesRoute, RUN_5_AQueuedRunHasNoStages) {
  admit(admission("r2", OnBusy::enqueue));

  EXPECT_EQ(ask("ann", "r2").body,
            R"({"threadId":"t1","runId":"r2","status":"queued","currency":"CNY","stages":[]})");
}

INSTANTIATE_TEST_SUITE_P(Engines, StagesRoute, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::http
