#include "runnel/runtime/execution/stage_records.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "runnel/core/fact/fact_json.h"
#include "runnel/runtime/execution/progress.h"

namespace runnel::runtime {
namespace {

using StageStatus = StageRecord::Status;

ToolResult result_of(std::string call, std::string stage, ToolStatus status) {
  ToolResult out;
  out.call = ToolCallId{std::move(call)};
  out.stage = std::move(stage);
  out.status = status;
  return out;
}

AnswerCompleted answer_of(std::string stage, std::string text) {
  AnswerCompleted out;
  out.stage = std::move(stage);
  out.answer = std::move(text);
  return out;
}

// A run's log in which each fact comes a second after the last one, in a row of its own.
class StoredRun {
 public:
  StoredRun& say(Fact fact) {
    Record record;
    record.position = {1, ++n_};
    record.time_us = static_cast<std::int64_t>(n_) * 1'000'000;
    record.fact = std::move(fact);
    std::string body = "[";
    append_record_json(body, record);
    body += "]";
    EXPECT_TRUE(records.add(store::LogRow{n_, n_, 1, body}));
    return *this;
  }
  StoredRun& two_stages(Fact end) {
    say(StepStarted{"router"}).say(StepFinished{"router"}).say(StepStarted{"worker"});
    return say(StepFinished{"worker"}).say(std::move(end));
  }
  StageRecord const& stage(std::size_t at) { return records.stages().at(at); }

  StageRecords records{40};
  Progress progress;

 private:
  std::uint64_t n_ = 0;
};

Fact run_failed() {
  return RunFailed{"message", "CODE", "id", {}};
}

TEST(StageRecords, RUN_5_StagesComeInTheOrderInWhichTheyBegan) {
  StoredRun run;
  run.say(RunStarted{}).say(StepStarted{"router"}).say(StepFinished{"router"}).say(StepStarted{"worker"});

  ASSERT_EQ(run.records.stages().size(), 2U);
  EXPECT_EQ(run.stage(0).name, "router");
  EXPECT_EQ(run.stage(0).status, StageStatus::completed);
  EXPECT_EQ(run.stage(0).started_at, 2000);
  EXPECT_EQ(run.stage(0).ended_at, 3000);
  EXPECT_EQ(run.stage(1).name, "worker");
  EXPECT_EQ(run.stage(1).status, StageStatus::running);
  EXPECT_EQ(run.stage(1).started_at, 4000);
  EXPECT_EQ(run.stage(1).ended_at, 0);
  EXPECT_FALSE(run.records.ended_as());
}

TEST(StageRecords, RUN_5_TheLastStageEndsAsTheRunDoes) {
  using store::RunStatus;
  std::vector<std::tuple<Fact, RunStatus, StageStatus>> const ends{
      {RunFinished{}, RunStatus::completed, StageStatus::completed},
      {run_failed(), RunStatus::failed, StageStatus::failed},
      {RunCanceled{}, RunStatus::canceled, StageStatus::canceled}};
  for (auto const& [end, status, last] : ends) {
    StoredRun run;
    run.two_stages(end);

    EXPECT_EQ(run.records.ended_as(), status);
    EXPECT_EQ(run.stage(0).status, StageStatus::completed);
    EXPECT_EQ(run.stage(1).status, last);
    EXPECT_EQ(run.stage(1).ended_at, 4000);
  }
}

TEST(StageRecords, RUN_5_ARunThatEndsBeforeItsFirstStageHasNone) {
  StoredRun run;
  run.say(RunCanceled{});

  EXPECT_TRUE(run.records.stages().empty());
  EXPECT_EQ(run.records.ended_as(), store::RunStatus::canceled);
}

TEST(StageRecords, RUN_5_ToolCallsAreListedWithTheirMethodStatusAndTimes) {
  auto const asks = [](char const* id) {
    return ToolCallStarted{MessageId{"m"}, ToolCallId{id}, "project_cli", "worker"};
  };
  auto const starts = [](char const* id, char const* name) {
    return ToolStarted{"a", ToolCallId{id}, name, {}, "p"};
  };
  StoredRun run;
  run.say(StepStarted{"worker"}).say(asks("c1")).say(asks("c2")).say(asks("c3"));
  run.say(starts("c1", "calendar.read")).say(result_of("c1", "worker", ToolStatus::success));
  run.say(result_of("c2", "worker", ToolStatus::failure));
  run.say(starts("c3", "calendar.create"));

  auto const& calls = run.stage(0).calls;
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].id.text, "c1");
  EXPECT_EQ(calls[0].name, "calendar.read");
  EXPECT_EQ(calls[0].status, ToolStatus::success);
  EXPECT_EQ(calls[0].started_at, 5000);
  EXPECT_EQ(calls[0].ended_at, 6000);
  EXPECT_EQ(calls[1].name, "project_cli") << "it was refused before it was started";
  EXPECT_EQ(calls[1].status, ToolStatus::failure);
  EXPECT_EQ(calls[1].started_at, 0);
  EXPECT_EQ(calls[1].ended_at, 7000);
  EXPECT_EQ(calls[2].name, "calendar.create");
  EXPECT_FALSE(calls[2].status.has_value());
  EXPECT_EQ(calls[2].ended_at, 0);
}

TEST(StageRecords, RUN_5_ResultsComeFromCheckpointsAndFromTheAnswer) {
  StoredRun run;
  run.say(StepStarted{"router"}).say(StepFinished{"router"}).say(StepStarted{"worker"});
  run.say(answer_of("worker", "Done.")).say(StepFinished{"worker"}).say(RunFinished{});
  run.records.add(run.progress.finish_stage("router", R"({"route":"X"})", "X", {}));

  EXPECT_EQ(run.stage(0).result, R"({"route":"X"})");
  EXPECT_EQ(run.records.answering_stage(), "worker");
  EXPECT_EQ(run.stage(1).result, R"({"text":"Done."})");

  run.records.add_output("router", R"({"no":"answer"})");
  run.records.add_output("worker", "```json\n{\"answer\": \"Done.\"}\n```");
  EXPECT_EQ(run.stage(0).result, R"({"route":"X"})");
  EXPECT_EQ(run.stage(1).result, R"({"answer":"Done."})");
}

TEST(StageRecords, RUN_5_WordsThatAreTheAnswerAreItsText) {
  StoredRun run;
  auto const words = std::string{R"(Write {"a":1} there.)"};
  run.say(StepStarted{"worker"}).say(answer_of("worker", words)).say(StepFinished{"worker"});
  run.records.add_output("worker", words);

  EXPECT_EQ(run.stage(0).result, R"({"text":"Write {\"a\":1} there."})");
}

TEST(StageRecords, RUN_5_OnlyACompletedStageHasAResult) {
  StoredRun run;
  run.say(StepStarted{"router"});
  run.records.add(run.progress.finish_stage("router", R"({"route":"X"})", "X", {}));
  run.records.add(run.progress.finish_stage("later", R"({"route":"X"})", "X", {}));

  EXPECT_EQ(run.stage(0).result, "");
  EXPECT_EQ(run.stage(0).result_bytes, 0U);
  EXPECT_EQ(run.records.stages().size(), 1U);
}

TEST(StageRecords, HTTP_9_ALongResultIsOnlyMeasured) {
  StoredRun run;
  run.say(StepStarted{"router"}).say(StepFinished{"router"}).say(StepStarted{"worker"});
  auto const longest = R"({"a":")" + std::string(32, 'x') + R"("})";
  auto const longer = R"({"a":")" + std::string(33, 'x') + R"("})";
  ASSERT_EQ(longest.size(), 40U);

  run.records.add(run.progress.finish_stage("router", longest, "", {}));
  EXPECT_EQ(run.stage(0).result, longest);
  run.records.add(run.progress.finish_stage("router", longer, "", {}));

  EXPECT_EQ(run.stage(0).result, "");
  EXPECT_EQ(run.stage(0).result_bytes, 41U);
}

TEST(StageRecords, FLOW_4_RepairsAreTheOutputsThatWereSentBack) {
  StoredRun run;
  run.two_stages(run_failed());
  run.records.add(run.progress.reject_output("router", "?", "repair", Fault::contract));
  run.records.add(run.progress.finish_stage("router", "{}", "", {}));
  run.records.add(run.progress.reject_output("worker", "?", "repair", Fault::contract));
  run.records.add(run.progress.reject_output("worker", "?", "repair", Fault::contract));

  EXPECT_EQ(outputs_sent_back(run.stage(0), {2, true}), 1);
  EXPECT_EQ(outputs_sent_back(run.stage(1), {2, true}), 1) << "the second was the last that is allowed";
  EXPECT_EQ(outputs_sent_back(run.stage(1), {2, false}), 2) << "the call that repairs it did not end well";
  EXPECT_EQ(outputs_sent_back(run.stage(1), {3, true}), 2) << "one more answer came";
}

TEST(StageRecords, RUN_12_ARowThatCannotBeReadIsAnError) {
  StageRecords records{40};

  EXPECT_FALSE(records.add(store::LogRow{1, 1, 1, R"([{"fact":"step_started")"}));
  EXPECT_TRUE(records.add(store::LogRow{1, 1, 1, R"([{"fact":"text_delta")"})) << "it tells of no stage";
}

}  // namespace
}  // namespace runnel::runtime
