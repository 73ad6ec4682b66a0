// AGUI-6: whole runs whose model calls tools of the client.
#include "runnel/runtime/testing/run_flow_case.h"

namespace runnel::runtime {
namespace {

ToolSpec color_tool() {
  return {"set_color", "Sets the color.", R"({"type":"object","properties":{"color":{"type":"string"}}})"};
}

flow::Catalog client_flow() {
  auto chat = prose_stage("chat");
  chat.client_tools = true;
  chat.tools = {"project_cli"};
  chat.settings.max_iters = 3;
  std::vector<flow::Stage> stages;
  stages.push_back(std::move(chat));
  return catalog_of(std::move(stages));
}

// The turn of a model with these calls, each a tool and its arguments.
ScriptedAttempt calls_tools(std::vector<std::pair<std::string, std::string>> const& calls) {
  auto end = answered(10, 5, model::Finish::tool_calls);
  ScriptedAttempt attempt;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    auto const id = "p" + std::to_string(i);
    attempt.emplace_back(ToolCallPiece{i, id, calls[i].first, calls[i].second});
    end.tool_calls.push_back({id, calls[i].first, calls[i].second});
  }
  attempt.emplace_back(end);
  return attempt;
}

constexpr char kRed[] = R"({"color":"red"})";

class ClientToolsTest : public RunFlowTest {
 protected:
  static RunInput input(std::string run, std::string text) {
    RunInput out;
    out.thread = ThreadId{"t"};
    out.run = RunId{std::move(run)};
    out.text = std::move(text);
    out.client.tools = {color_tool()};
    return out;
  }
  static RunInput reply(std::string run, std::vector<ClientAnswer> answers) {
    auto out = input(std::move(run), "");
    out.client.is_reply = true;
    out.client.answers = std::move(answers);
    return out;
  }
  static ClientAnswer answer(ToolCallId call, std::string content, std::string id = {}) {
    return {std::move(call), std::move(id), std::move(content), "", true};
  }

  std::variant<Started, Refusal> start(RunInput run) { return life->start_with(std::move(run)); }
  // The code of the refusal. Empty if the run was started.
  std::string refused(RunInput run) {
    auto const outcome = start(std::move(run));
    auto const* const refusal = std::get_if<Refusal>(&outcome);
    return refusal != nullptr ? refusal->code : "";
  }
  RunStatus finish(RunInput run) {
    auto const id = run.run->text;
    auto const outcome = start(std::move(run));
    auto const* const refusal = std::get_if<Refusal>(&outcome);
    EXPECT_EQ(refusal, nullptr) << refusal->message;
    return life->ended(id).status;
  }

  template <class T>
  std::vector<T> all_of(std::string const& run) {
    std::vector<T> found;
    for (auto const& fact : life->log(run)) {
      if (auto const* one = std::get_if<T>(&fact)) found.push_back(*one);
    }
    return found;
  }
  std::vector<ToolCallId> pending(std::string const& run) {
    return all_of<RunFinished>(run).at(0).pending_calls;
  }
};

TEST_F(ClientToolsTest, AGUI_6_ACallEndsTheRunAndItsAnswerIsTheInputOfTheNext) {
  begin({calls_tools({{"set_color", kRed}}), says("It is red.")}, client_flow());
  EXPECT_EQ(finish(input("r1", "paint it")), RunStatus::completed);

  EXPECT_EQ(life->facts("r1"),
            (Names{"run_started", "step_started", "tool_call_started", "usage_recorded", "tool_preparing",
                   "tool_args", "tool_call_ended", "step_finished", "run_finished"}));
  auto const calls = pending("r1");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(all_of<ToolArgs>("r1").at(0).args.str(), kRed);
  auto const offered = script->requests().at(0).tools;
  ASSERT_EQ(offered.size(), 2U);
  EXPECT_EQ(offered[0].name, "project_cli");
  EXPECT_EQ(offered[1].description, "Sets the color.");

  EXPECT_EQ(finish(reply("r2", {answer(calls[0], "done", "mine")})), RunStatus::completed);
  EXPECT_EQ(life->facts("r2"),
            (Names{"run_started", "client_call_closed", "step_started", "reply_started", "text_started",
                   "usage_recorded", "answer_completed", "step_finished", "run_finished"}));
  auto const closed = all_of<ClientCallClosed>("r2").at(0);
  EXPECT_TRUE(closed.answered);
  EXPECT_EQ(closed.message.text, "mine");
  EXPECT_EQ(closed.result.str(), R"({"content":"done"})");
  EXPECT_EQ(closed.args.str(), kRed);
  EXPECT_NE(all_of<RunStarted>("r2").at(0).answers.value().str().find(R"("toolCallId":")" + calls[0].text),
            std::string::npos);
  auto const told = script->requests().at(1).messages;
  ASSERT_GE(told.size(), 3U);
  auto const answered_call = std::find_if(
      told.begin(), told.end(), [](auto const& message) { return message.speaker == Speaker::tool; });
  ASSERT_NE(answered_call, told.end());
  EXPECT_EQ(answered_call->text, "done");
  EXPECT_EQ(answered_call->tool_call_id, calls[0].text);
  EXPECT_EQ((answered_call - 1)->tool_calls.at(0).arguments, kRed);
  auto const history = life->history();
  ASSERT_EQ(history.size(), 4U);  // user, call, result, answer
  EXPECT_EQ(history[2].id.text, "mine");
  EXPECT_EQ(history[2].content, "done");
  EXPECT_EQ(history[2].role, store::Role::tool);
}

TEST_F(ClientToolsTest, AGUI_6_WithoutToolsTheRequestIsAsBefore) {
  begin({says("Hi.")}, client_flow());
  auto plain = input("r1", "hello");
  plain.client = {};
  EXPECT_EQ(finish(std::move(plain)), RunStatus::completed);
  EXPECT_EQ(script->requests().at(0).tools.size(), 1U);
}

TEST_F(ClientToolsTest, AGUI_6_AFlowThatTakesNoClientToolsIgnoresThem) {
  begin({says("Hi.")}, chat_catalog());
  EXPECT_EQ(finish(input("r1", "hello")), RunStatus::completed);
  EXPECT_TRUE(script->requests().at(0).tools.empty());
  EXPECT_EQ(life->series("runnel_ignored_input_keys_total", "1"), "1");
}

TEST_F(ClientToolsTest, AGUI_6_AToolWithTheNameOfTheServersIsRefused) {
  begin({}, client_flow());
  auto bad = input("r1", "hello");
  bad.client.tools[0].name = "project_cli";
  EXPECT_EQ(refused(std::move(bad)), "INVALID_REQUEST");
}

TEST_F(ClientToolsTest, AGUI_6_ServerCallsOfTheSameTurnRunFirst) {
  begin({calls_tools({{"set_color", kRed}, {"project_cli", kEcho}, {"set_color", ""}}), says("Done.")},
        client_flow());
  EXPECT_EQ(finish(input("r1", "paint it")), RunStatus::completed);

  auto const calls = pending("r1");
  ASSERT_EQ(calls.size(), 2U);
  auto const results = all_of<ToolResult>("r1");
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].status, ToolStatus::success);
  EXPECT_EQ(all_of<ToolStarted>("r1").at(0).preparing_id, "m.echo:1");
  EXPECT_EQ(script->requests().size(), 1U);

  EXPECT_EQ(finish(reply("r2", {answer(calls[1], R"({"ok":true})")})), RunStatus::completed);
  auto const closed = all_of<ClientCallClosed>("r2");
  ASSERT_EQ(closed.size(), 2U);
  EXPECT_FALSE(closed[0].answered);
  EXPECT_EQ(json::parse(closed[0].content).at("error").at("code"), "CLIENT_TOOL_ABANDONED");
  EXPECT_EQ(closed[0].error, closed[0].result);
  EXPECT_TRUE(closed[1].answered);
  EXPECT_EQ(closed[1].result.str(), R"({"ok":true})");
  EXPECT_FALSE(
      all_of<RunStarted>("r2").at(0).answers);  // Its message had no id, so the client has another one.
}

TEST_F(ClientToolsTest, AGUI_6_AUserMessageInsteadAbandonsTheCall) {
  begin({calls_tools({{"set_color", kRed}}), says("Fine.")}, client_flow());
  EXPECT_EQ(finish(input("r1", "paint it")), RunStatus::completed);
  EXPECT_EQ(finish(input("r2", "never mind")), RunStatus::completed);

  auto const history = life->history();
  ASSERT_EQ(history.size(), 5U);  // user, call, abandoned, user, answer
  EXPECT_EQ(history[2].role, store::Role::tool);
  EXPECT_NE(history[2].content.find("CLIENT_TOOL_ABANDONED"), std::string::npos);
  EXPECT_EQ(history[3].content, "never mind");
  EXPECT_EQ(refused(reply("r3", {answer(pending("r1")[0], "late", "late")})), "TOOL_CALL_NOT_PENDING");
}

TEST_F(ClientToolsTest, AGUI_6_AnAnswerThatComesWithAUserMessageIsUsed) {
  begin({calls_tools({{"set_color", kRed}}), says("Fine.")}, client_flow());
  EXPECT_EQ(finish(input("r1", "paint it")), RunStatus::completed);
  auto next = input("r2", "and now?");
  next.client.answers = {answer(pending("r1")[0], "done", "mine")};
  next.client.answers[0].last = false;
  EXPECT_EQ(finish(std::move(next)), RunStatus::completed);

  auto const history = life->history();
  ASSERT_EQ(history.size(), 5U);
  EXPECT_EQ(history[2].content, "done");
  EXPECT_EQ(history[2].id.text, "mine");
}

TEST_F(ClientToolsTest, AGUI_6_AnswersToOtherCallsAreRefusedAndTheSameRunIsFoundAgain) {
  begin({calls_tools({{"set_color", kRed}}), says("Fine.")}, client_flow());
  EXPECT_EQ(refused(reply("r0", {answer(ToolCallId{"nothing"}, "x")})), "TOOL_CALL_NOT_PENDING");
  EXPECT_EQ(finish(input("r1", "paint it")), RunStatus::completed);
  auto const call = pending("r1")[0];
  EXPECT_EQ(refused(reply("r2", {answer(call, "x", "m"), answer(ToolCallId{"other"}, "y")})),
            "TOOL_CALL_NOT_PENDING");
  EXPECT_EQ(refused(reply("r2", {answer(call, "x"), answer(call, "y")})), "INVALID_REQUEST");
  EXPECT_EQ(refused(reply("r2", {answer(call, std::string(300 * 1024, 'x'))})), "MESSAGE_TOO_LARGE");

  EXPECT_EQ(finish(reply("r2", {answer(call, "done", "mine")})), RunStatus::completed);
  auto const again = start(reply("r2", {answer(call, "done", "mine")}));
  EXPECT_FALSE(std::get<Started>(again).created);
  EXPECT_EQ(refused(reply("r2", {answer(call, "other", "mine")})), "RUN_ID_CONFLICT");
  EXPECT_EQ(refused(reply("r3", {answer(call, "done", "mine")})), "TOOL_CALL_NOT_PENDING");
}

TEST_F(ClientToolsTest, AGUI_6_ArgumentsThatAreNoObjectGoBackToTheModel) {
  begin({calls_tools({{"set_color", "no json"}}), calls_tools({{"set_color", kRed}})}, client_flow());
  EXPECT_EQ(finish(input("r1", "paint it")), RunStatus::completed);

  auto const results = all_of<ToolResult>("r1");
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(json::parse(results[0].result.str()).at("error").at("code"), "INVALID_ACTION_INPUT");
  EXPECT_EQ(script->requests().at(1).messages.back().text, results[0].result.str());
  EXPECT_EQ(pending("r1").size(), 1U);
}

TEST_F(ClientToolsTest, AGUI_6_ACanceledRunLeavesNoCallOpen) {
  begin({calls_tools({{"set_color", kRed},
                      {"project_cli", R"({"module":"m","method":"slow","input":{"ms":60000}})"}}),
         says("Fine.")},
        client_flow());
  start(input("r1", "paint it"));
  for (int i = 0; i < 2000 && all_of<ToolStarted>("r1").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  life->cancel("r1");
  EXPECT_EQ(life->ended("r1").status, RunStatus::canceled);
  EXPECT_EQ(finish(input("r2", "again")), RunStatus::completed);
  EXPECT_TRUE(all_of<ClientCallClosed>("r2").empty());
}

TEST_F(ClientToolsTest, AGUI_6_AnAnswerInTheQueueIsWrittenWhenItsRunBegins) {
  begin({calls_tools(
             {{"set_color", kRed}, {"project_cli", R"({"module":"m","method":"slow","input":{"ms":300}})"}}),
         says("It is red.")},
        client_flow());
  start(input("r1", "paint it"));
  for (int i = 0; i < 2000 && all_of<ToolStarted>("r1").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  auto const call = all_of<ToolCallStarted>("r1").at(0).call;
  auto queued = reply("r2", {answer(call, "done", "mine")});
  queued.on_busy = store::OnBusy::enqueue;
  EXPECT_EQ(std::get<Started>(start(std::move(queued))).status, RunStatus::queued);

  EXPECT_EQ(life->ended("r2").status, RunStatus::completed);
  EXPECT_EQ(pending("r1"), std::vector<ToolCallId>{call});
  EXPECT_EQ(all_of<ClientCallClosed>("r2").at(0).message.text, "mine");
}

TEST_F(ClientToolsTest, AGUI_6_AnAnswerInTheQueueToACallThatIsCanceledFailsItsRun) {
  begin({calls_tools({{"set_color", kRed},
                      {"project_cli", R"({"module":"m","method":"slow","input":{"ms":60000}})"}}),
         says("Never.")},
        client_flow());
  start(input("r1", "paint it"));
  for (int i = 0; i < 2000 && all_of<ToolStarted>("r1").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  auto queued = reply("r2", {answer(all_of<ToolCallStarted>("r1").at(0).call, "done", "mine")});
  queued.on_busy = store::OnBusy::interrupt;
  start(std::move(queued));

  EXPECT_EQ(life->ended("r2").status, RunStatus::failed);
  EXPECT_EQ(all_of<RunFailed>("r2").at(0).code, "TOOL_CALL_NOT_PENDING");
  EXPECT_EQ(script->requests().size(), 1U);
}

TEST_F(ClientToolsTest, RUN_12_ARunThatWasLeftBetweenTheTurnAndItsEndGoesOnToEndWithTheCallOpen) {
  auto const attempts = calls_tools(
      {{"set_color", kRed}, {"project_cli", R"({"module":"m","method":"slow","input":{"ms":60000}})"}});
  begin({attempts}, client_flow());
  start(input("r1", "paint it"));
  for (int i = 0; i < 2000 && all_of<ToolStarted>("r1").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  auto const call = all_of<ToolCallStarted>("r1").at(0).call;
  life.reset();
  begin({says("It is red.")}, client_flow());

  EXPECT_EQ(life->ended("r1").status, RunStatus::completed);
  EXPECT_EQ(pending("r1"), std::vector<ToolCallId>{call});
  EXPECT_TRUE(script->requests().empty());
  EXPECT_EQ(finish(reply("r2", {answer(call, "done", "mine")})), RunStatus::completed);
}

TEST_F(ClientToolsTest, FLOW_7_AnAnswerIsSeenWhateverItsSize) {
  auto flows = [] {
    auto chat = prose_stage("chat");
    chat.client_tools = true;
    chat.settings.context_tokens = 50;
    std::vector<flow::Stage> stages;
    stages.push_back(std::move(chat));
    return catalog_of(std::move(stages));
  };
  begin({calls_tools({{"set_color", kRed}}), says("Fine.")}, flows());
  EXPECT_EQ(finish(input("r1", "paint it")), RunStatus::completed);
  EXPECT_EQ(finish(reply("r2", {answer(pending("r1")[0], std::string(10'000, 'x'))})), RunStatus::completed);

  bool seen = false;
  auto const told = script->requests().at(1).messages;
  for (auto const& message : told)
    seen = seen || (message.speaker == Speaker::tool && message.text.size() == 10'000);
  EXPECT_TRUE(seen);
}

// Every round adds two rows, so the question is older than those that are read.
TEST_F(ClientToolsTest, FLOW_7_QuestionIsSeenAfterManyRounds) {
  constexpr int kRounds = 8;
  auto chat = prose_stage("chat");
  chat.client_tools = true;
  chat.settings.context_messages = 2;
  std::vector<flow::Stage> stages;
  stages.push_back(std::move(chat));
  std::vector<ScriptedAttempt> attempts;
  for (int round = 0; round < kRounds; ++round)
    attempts.push_back(calls_tools({{"set_color", kRed}}));
  attempts.push_back(says("Fine."));
  begin(std::move(attempts), catalog_of(std::move(stages)));
  EXPECT_EQ(finish(input("r0", "paint it")), RunStatus::completed);
  for (int round = 0; round < kRounds; ++round) {
    auto const call = pending("r" + std::to_string(round)).at(0);
    EXPECT_EQ(finish(reply("r" + std::to_string(round + 1), {answer(call, "done")})), RunStatus::completed);
  }

  bool asked = false;
  auto const told = script->requests().back().messages;
  for (auto const& message : told)
    asked = asked || (message.speaker == Speaker::user && message.text == "paint it");
  EXPECT_TRUE(asked);
}

}  // namespace
}  // namespace runnel::runtime
