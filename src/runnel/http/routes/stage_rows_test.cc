#include "runnel/http/routes/stage_rows.h"

#include <algorithm>
#include <utility>

#include "runnel/store/testing/ledger_contract.h"

namespace runnel::http {
namespace {

using namespace store;
using Models = std::vector<std::string>;

NewMessage audit_with(std::string id, std::string const& stage, std::string const& status,
                      std::string content) {
  auto row = audit(std::move(id));
  row.content = std::move(content);
  row.metadata =
      R"({"type":"stage_audit","stage":")" + stage + R"(","status":")" + status + R"(","usage_summary":{}})";
  return row;
}

class StageRows : public LedgerContract {
 protected:
  void call(std::string id, std::string stage, std::string model) {
    auto made = new_call(std::move(id), run_);
    made.stage = std::move(stage);
    made.model = std::move(model);
    ASSERT_TRUE(open(made));
  }
  void end_as(std::string id, CallStatus status, Money cost = Money{1}) {
    ASSERT_TRUE(append({}, {call_end(std::move(id), cost, status)}));
  }
  StageUsage usage(std::string const& stage) {
    auto const all = run_async(stage_usage(&store(), run_.run)).value();
    auto const found =
        std::find_if(all.begin(), all.end(), [&](StageUsage const& known) { return known.stage == stage; });
    return found != all.end() ? *found : StageUsage{};
  }
  StageOutput output() { return run_async(last_stage_output(&store(), run_.run)).value(); }
};

TEST_P(StageRows, USE_8_CallsAreAddedUpByStage) {
  call("c1", "router", "small");
  end_as("c1", CallStatus::completed, Money{1'200'000'000'000});
  call("c2", "worker", "large");
  end_as("c2", CallStatus::failed, Money{1});
  call("c3", "worker", "spare");
  end_as("c3", CallStatus::completed, Money{5'000'000});
  call("c4", "worker", "large");

  auto const router = usage("router");
  EXPECT_EQ(router.models, Models{"small"});
  EXPECT_EQ(router.input_tokens, 100);
  EXPECT_EQ(router.output_tokens, 40);
  EXPECT_EQ(to_decimal(router.cost), "1.2");
  EXPECT_TRUE(router.complete);
  auto const worker = usage("worker");
  EXPECT_EQ(worker.models, (Models{"large", "spare"})) << "in the order of their first calls";
  EXPECT_EQ(worker.input_tokens, 200);
  EXPECT_EQ(worker.output_tokens, 80);
  EXPECT_EQ(worker.cost, Money{5'000'001}) << "what the open call reserves does not count";
  EXPECT_TRUE(worker.complete) << "an open call is not an estimate";
}

TEST_P(StageRows, USE_8_CostIsTheBookedOne) {
  call("c1", "router", "small");
  end_as("c1", CallStatus::completed, Money{7});
  auto row = audit("a1");
  row.cost = Money{9};
  ASSERT_TRUE(append({row}, {}, {booking("c1", "a1", Money{9})}));

  EXPECT_EQ(usage("router").cost, Money{9});
}

TEST_P(StageRows, USE_8_EstimatesAreTold) {
  call("c1", "router", "small");
  auto end = call_end("c1", Money{1}, CallStatus::interrupted);
  end.tokens.complete = false;
  ASSERT_TRUE(append({}, {end}));

  EXPECT_FALSE(usage("router").complete);
}

TEST_P(StageRows, FLOW_4_TheNewestCallOfAStageIsKnown) {
  call("c1", "worker", "large");
  end_as("c1", CallStatus::completed);
  EXPECT_EQ(usage("worker").calls.completed, 1);
  EXPECT_TRUE(usage("worker").calls.last_completed);

  call("c2", "worker", "spare");
  EXPECT_FALSE(usage("worker").calls.last_completed) << "it is open";
  end_as("c2", CallStatus::failed);
  EXPECT_FALSE(usage("worker").calls.last_completed);

  call("c3", "worker", "large");
  end_as("c3", CallStatus::completed);
  EXPECT_EQ(usage("worker").calls.completed, 2);
  EXPECT_TRUE(usage("worker").calls.last_completed);

  call("c4", "worker", "large");
  EXPECT_FALSE(usage("worker").calls.last_completed) << "an older call of this model was completed";
}

TEST_P(StageRows, RUN_5_CallsOfAnotherRunDoNotCount) {
  auto const other = admit(admission("r2", "t2"));
  auto made = new_call("c1", other);
  made.stage = "router";
  ASSERT_TRUE(open(made));

  EXPECT_TRUE(run_async(stage_usage(&store(), run_.run)).value().empty());
}

TEST_P(StageRows, RUN_5_TheLastOutputIsThatOfTheStageThatSucceeded) {
  EXPECT_EQ(output().stage, "");
  ASSERT_TRUE(append({audit_with("a1", "router", "success", "{\"route\":1}")}, {}));
  ASSERT_TRUE(append({audit_with("a2", "worker", "rejected", "{}")}, {}));
  EXPECT_EQ(output().stage, "") << "an output that was sent back is none";

  ASSERT_TRUE(append({answer("m1"), audit_with("a3", "worker", "success", "{\"answer\":\"茶\"}")}, {}));

  EXPECT_EQ(output().stage, "worker");
  EXPECT_EQ(output().text, "{\"answer\":\"茶\"}");
}

INSTANTIATE_TEST_SUITE_P(Engines, StageRows, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::http
