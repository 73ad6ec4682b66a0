// Tests of flows that are canceled, repaired or interrupted, and of runs for which the store did what was
// asked but its answer was lost.
#include "runnel/runtime/testing/run_flow_case.h"
#include "runnel/runtime/testing/test_lossy_store.h"

namespace runnel::runtime {
namespace {

TEST_F(RunFlowTest, RUN_14_BlanksAreNoMessageUntilAWordFollows) {
  EXPECT_EQ(run({says(R"({"route":"DIRECT","text":" \n"})"), says(kNeeds), calls_tool(kEcho, "\n\n"),
                 says(R"({"status":"SUCCESS","answer":"\n Done."})")}),
            RunStatus::completed);

  auto const texts = all<TextStarted>();
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_EQ(all<AnswerCompleted>().at(0).message, texts[0].message);
  EXPECT_EQ(all<AnswerCompleted>().at(0).answer, "\n Done.");
  EXPECT_EQ(life->history().size(), 4U);  // user, call, result, answer
}

TEST_F(RunFlowTest, RUN_14_TextThatARepairReplacesIsSuperseded) {
  // The optional field after the text is wrong, so the text was shown already.
  EXPECT_EQ(run({says(kNeeds), says(R"({"status":"SUCCESS","answer":"Old.","error":1})"), says(kDone)}),
            RunStatus::completed);
  auto const ended = all<TextEnded>();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].text, "Old.");
  EXPECT_EQ(ended[0].outcome, TextOutcome::superseded);
  EXPECT_NE(all<AnswerCompleted>().at(0).message, ended[0].message);
}

TEST_F(RunFlowTest, RUN_12_AViolationThatACrashInterruptedIsNotForgotten) {
  begin({says("a"), says("b"), says("c"), says(kNeeds)});
  life->start("r1", "hello");
  EXPECT_EQ(life->ended("r1").status, RunStatus::failed);
  auto const kinds = rows("SELECT kind FROM checkpoints ORDER BY number");
  EXPECT_EQ(kinds, (store::TextRows(3, {"rejected"})));
}

TEST_F(RunFlowTest, RUN_4_ACancelDuringAToolClosesTheCall) {
  begin({says(kNeeds), calls_tool(R"({"module":"m","method":"slow","input":{"ms":60000}})")});
  life->start("r1", "hello");
  for (int i = 0; i < 2000 && all<ToolStarted>().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  life->cancel("r1");
  EXPECT_EQ(life->ended("r1").status, RunStatus::canceled);
  EXPECT_EQ(json::parse(all<ToolResult>().at(0).result.str()).at("error").at("code"), "CANCELED");
}

TEST_F(RunFlowTest, RUN_12_ACallThatARunsEndBreaksOffMayHaveHadItsEffect) {
  flow::Limits limits;
  limits.seconds = 1;
  EXPECT_EQ(run({says(kNeeds), calls_tool(R"({"module":"m","method":"slow","input":{"ms":60000}})")},
                two_stages(limits)),
            RunStatus::failed);
  EXPECT_EQ(all<RunFailed>().at(0).code, "RUN_TIME_LIMIT");
  EXPECT_EQ(json::parse(all<ToolResult>().at(0).result.str()).at("error").at("code"), "OUTCOME_UNKNOWN");
}

TEST_F(RunFlowTest, RUN_12_ARunWhoseFlowIsGoneEnds) {
  begin({says(kNeeds), {TextPiece{"half"}}});
  life->start("r1", "hello");
  for (int i = 0; i < 2000 && script->requests().size() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  life.reset();
  auto stages = std::vector<flow::Stage>{intent_stage(), worker_stage("intent", "NEEDS")};
  begin({says(kDone)}, catalog_of(std::move(stages), {}, "another"));
  EXPECT_EQ(life->ended("r1").status, RunStatus::failed);
  EXPECT_EQ(all<RunFailed>().at(0).code, "FLOW_CHANGED");
}

TEST_F(RunFlowTest, RUN_12_AFinishedStageIsNotRunAgain) {
  begin({says(kNeeds), {TextPiece{"half"}}});
  life->start("r1", "hello");
  for (int i = 0; i < 2000 && script->requests().size() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  life.reset();  // The process stops in the middle of the worker stage.
  begin({says(kDone)});
  EXPECT_EQ(life->ended("r1").status, RunStatus::completed);
  EXPECT_EQ(script->requests().size(), 1U);
  EXPECT_EQ(all<AnswerCompleted>().at(0).answer, "Done.");
  // The router's call, which the first process booked, is in the sum with the worker's two.
  auto const calls = rows("SELECT status, input_tokens FROM model_calls ORDER BY started_at, id");
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[1][0], "interrupted");
  EXPECT_EQ(all<RunFinished>().at(0).usage.at(0).tokens.input, 10 + std::stoll(calls[1][1]) + 10);
}

TEST_F(RunFlowTest, RUN_12_AnAttemptThatACrashCutOffCountsAgainstNoLimit) {
  flow::Limits limits;
  limits.model_calls = 2;
  begin({says(kNeeds), {TextPiece{"half"}}}, two_stages(limits));
  life->start("r1", "hello");
  for (int i = 0; i < 2000 && script->requests().size() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  life.reset();
  begin({says(kDone)}, two_stages(limits));
  EXPECT_EQ(life->ended("r1").status, RunStatus::completed);
}

TEST_F(RunFlowTest, USE_10_WordsAndArgumentsThatACrashCutOffAreEstimated) {
  std::string const words = "I look. ";
  std::string const arguments = R"({"module":"m","method":"echo",)";
  begin({says(kNeeds), {TextPiece{words}, ToolCallPiece{0, "p1", "project_cli", arguments}}});
  life->start("r1", "hello");
  for (int i = 0; i < 2000 && all<ToolCallStarted>().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  life.reset();
  begin({says(kDone)});
  EXPECT_EQ(life->ended("r1").status, RunStatus::completed);
  EXPECT_EQ(all<RunFinished>().at(0).usage.at(0).tokens.output,
            5 + estimate_tokens(words) + estimate_tokens(arguments) + 5);
  // The words are replaced by what the model says when it is asked again (RUN-14).
  ASSERT_EQ(life->history().size(), 4U);
  for (auto const& message : life->history())
    EXPECT_NE(message.content, words);
  EXPECT_EQ(rows("SELECT visibility_mask, seq > 0 FROM agent_chat_messages WHERE content = '" + words + "'"),
            (store::TextRows{{"0", "1"}}));
  EXPECT_EQ(life->context("r1"), (Names{"hello", "Done."}));
  EXPECT_EQ(json::parse(all<ToolResult>().at(0).result.str()).at("error").at("code"), "INTERRUPTED");
}

TEST_F(RunFlowTest, RUN_12_ACallThatWasAskedForIsFinishedAfterACrash) {
  begin({says(kNeeds), calls_tool(R"({"module":"m","method":"slow","input":{"ms":60000}})")});
  life->start("r1", "hello");
  for (int i = 0; i < 2000 && all<ToolStarted>().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  life.reset();
  begin({says(kDone)});
  EXPECT_EQ(life->ended("r1").status, RunStatus::completed);
  EXPECT_EQ(all<ToolStarted>().size(), 1U);
  auto const results = all<ToolResult>();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(json::parse(results[0].result.str()).at("error").at("code"), "OUTCOME_UNKNOWN");
  EXPECT_EQ(script->requests().at(0).messages.back().text, results[0].result.str());
}

class LostAnswers : public testing::Test {
 protected:
  store::TemporaryFolder folder;
  std::string path = folder.file("runnel.db");
};

TEST_F(LostAnswers, RUN_12_RunWhoseAdmissionLostItsAnswerGoesOn) {
  auto store = std::make_unique<LossyStore>(open_database(path));
  auto& lossy = *store;
  Life life{std::move(store), offline_model(std::chrono::milliseconds{0}, 0)};
  lossy.lost_admits = 1;

  auto const started = life.try_start("r1", "hello");

  ASSERT_TRUE(started.has_error());
  EXPECT_EQ(started.error().code, Errc::unavailable);
  EXPECT_EQ(std::get<Started>(life.start("r1", "hello")).status, RunStatus::running)
      << "the client asks again";
  EXPECT_EQ(life.ended("r1").status, RunStatus::completed);
  EXPECT_EQ(life.row("r1").epochs.size(), 2u) << "it has been taken over, once";
}

TEST_F(LostAnswers, RUN_12_RunOfAnotherRequestIsLeftToItsWriter) {
  auto store = std::make_unique<LossyStore>(open_database(path));
  auto& lossy = *store;
  Life life{std::move(store), offline_model(std::chrono::milliseconds{1}, 1200)};
  life.start("r1", "hello");
  lossy.lost_admits = 1;

  EXPECT_TRUE(life.try_start("r1", "hello").has_error());

  EXPECT_EQ(life.ended("r1").status, RunStatus::completed);
  EXPECT_EQ(life.row("r1").epochs.size(), 1u);
}

TEST_F(LostAnswers, RUN_12_EndByForceThatLostItsAnswerStillLetsTheNextRunBegin) {
  {
    Life life{path, std::chrono::milliseconds{1}, 5000};
    life.start("r1", "hello");
    life.start("r2", "two", store::OnBusy::enqueue);
    life.reach("r1", 20);
  }
  store::sqlite_rows(path, "UPDATE log SET body = 'x'").value();
  auto store = std::make_unique<LossyStore>(open_database(path));
  store->lost_force_ends = 1;

  Life life{std::move(store), offline_model(std::chrono::milliseconds{0}, 0)};

  EXPECT_EQ(life.ended("r1").error_code, "RUN_INTERRUPTED");
  EXPECT_EQ(life.ended("r2").status, RunStatus::completed);
}

}  // namespace
}  // namespace runnel::runtime
