// Tests of flows that are canceled, repaired or interrupted, and of runs for which the store did what was
// asked but its answer was lost.
#include <atomic>

#include "runnel/base/sleep.h"
#include "runnel/core/text/sha256.h"
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

TEST_F(RunFlowTest, AGUI_8_ClientsAreToldWhatIsLeftBehindASupersededMessage) {
  EXPECT_EQ(run({says(kNeeds), calls_tool(kEcho), says(R"({"status":"SUCCESS","answer":"Old.","error":1})"),
                 says(kDone)}),
            RunStatus::completed);

  auto const told = all<MessageSuperseded>();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].message, all<TextEnded>().at(0).message);
  auto const left = json::parse(told[0].messages.value().str()).as_array();
  ASSERT_EQ(left.size(), 3U) << told[0].messages->str();  // The user's message, the call and its result.
  auto const history = life->history();
  for (std::size_t i = 0; i < left.size(); ++i)
    EXPECT_EQ(left[i].at("id").as_string(), history[i].id.text);
  auto const& call = left[1].at("toolCalls").at(0);
  EXPECT_EQ(call.at("id").as_string(), all<ToolCallStarted>().at(0).call.text);
  EXPECT_EQ(call.at("function").at("arguments").as_string(), history[1].content);
  EXPECT_EQ(left[2].at("toolCallId"), call.at("id"));
  EXPECT_EQ(left[2].at("content").as_string(), history[2].content);
  EXPECT_EQ(left[2].at("role"), "tool");
}

TEST_F(RunFlowTest, AGUI_8_ListThatIsTooLargeIsNotSent) {
  begin({says(kNeeds), says(R"({"status":"SUCCESS","answer":"Old.","error":1})"), says(kDone)});
  life->start("r1", std::string(128 * 1024, 'x'));
  EXPECT_EQ(life->ended("r1").status, RunStatus::completed);

  auto const told = all<MessageSuperseded>();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].message, all<TextEnded>().at(0).message);
  EXPECT_FALSE(told[0].messages.has_value());
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

// Notes the jobs that it is given. Its way to prepare arguments changes with its version.
class NotingTool final : public tools::Tool {
 public:
  struct Notes {
    std::vector<tools::ToolJob> jobs;
    std::atomic<int> entered{0};
  };
  NotingTool(std::string version, std::shared_ptr<Notes> notes)
      : version_{std::move(version)}, notes_{std::move(notes)} {}

  [[nodiscard]] ToolSpec spec() const override { return tools::EchoTool{}.spec(); }
  [[nodiscard]] tools::PreparedCall prepare(std::string const& arguments) const override {
    auto args = json::parse(arguments).as_object();
    args.emplace("version", version_);
    auto prepared = tools::EchoTool{}.prepare(arguments);
    prepared.args = JsonText::parse(json::serialize(args)).value();
    return prepared;
  }
  boost::asio::awaitable<Result<tools::ToolOutcome>> run(tools::ToolJob job,
                                                         std::shared_ptr<base::Cancel> cancel) override {
    notes_->jobs.push_back(job);
    ++notes_->entered;
    if (job.repeat) co_return tools::outcome_unknown();
    co_await base::sleep_for(std::chrono::minutes{1}, cancel);
    co_return Error{Errc::canceled, "canceled"};
  }

 private:
  std::string version_;
  std::shared_ptr<Notes> notes_;
};

TEST_F(RunFlowTest, RUN_12_ARepeatedCallHasTheArgumentsThatWereRecorded) {
  flow::Limits limits;
  limits.seconds = 60;
  auto const notes = std::make_shared<NotingTool::Notes>();
  begin({says(kNeeds), calls_tool(kEcho)}, two_stages(limits), std::make_unique<NotingTool>("old", notes));
  auto const before = std::chrono::steady_clock::now();
  life->start("r1", "hello");
  for (int i = 0; i < 20'000 && notes->entered == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  auto const after = std::chrono::steady_clock::now();
  EXPECT_EQ(rows("SELECT name, status FROM tool_calls"), (store::TextRows{{"m.echo", "open"}}));
  auto const epoch = life->row("r1").epoch;
  life.reset();
  begin({says(kDone)}, two_stages(limits), std::make_unique<NotingTool>("new", notes));
  EXPECT_EQ(life->ended("r1").status, RunStatus::completed);

  ASSERT_EQ(notes->jobs.size(), 2U);
  auto const& first = notes->jobs[0];
  auto const& second = notes->jobs[1];
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(json::parse(first.args.str()).at("version"), "old");
  EXPECT_EQ(second.args, first.args);
  EXPECT_EQ(all<ToolArgs>().at(0).args, first.args);
  EXPECT_EQ(all<ToolResult>().at(0).args, first.args);
  EXPECT_FALSE(first.repeat);
  EXPECT_TRUE(second.repeat);
  EXPECT_EQ(first.epoch, epoch);
  EXPECT_GT(second.epoch, epoch);
  EXPECT_LE(first.deadline.value(), after + std::chrono::seconds{60});
  EXPECT_GT(first.deadline.value(), before + std::chrono::seconds{30});
  EXPECT_EQ(rows("SELECT status, args_hash FROM tool_calls"),
            (store::TextRows{{"closed", sha256_hex(first.args.str())}}));
}

TEST_F(RunFlowTest, RUN_12_ARefusedCallIsNeverOpen) {
  EXPECT_EQ(run({says(kNeeds), calls_tool(R"({"module":"m","method":"rm","input":{}})"), says(kDone)}),
            RunStatus::completed);
  EXPECT_EQ(all<ToolResult>().size(), 1U);
  EXPECT_EQ(rows("SELECT id FROM tool_calls"), store::TextRows{});
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
