// Tests of flows: stages, routes, tools, contracts, limits.
#include "runnel/runtime/testing/run_flow_case.h"

namespace runnel::runtime {
namespace {

TEST_F(RunFlowTest, FLOW_3_ADirectAnswerEndsTheRunWithOneModelCall) {
  EXPECT_EQ(run({says(R"({"route":"DIRECT","text":"Hi!"})")}), RunStatus::completed);

  EXPECT_EQ(script->requests().size(), 1U);
  EXPECT_EQ(life->facts("r1"),
            (Names{"run_started", "step_started", "reply_started", "text_started", "usage_recorded",
                   "answer_completed", "step_finished", "run_finished"}));
  auto const answer = all<AnswerCompleted>().at(0);
  EXPECT_EQ(answer.answer, "Hi!");
  EXPECT_EQ(answer.stage, "intent");
  EXPECT_EQ(life->history().size(), 2U);
}

TEST_F(RunFlowTest, FLOW_1_ARouteLeadsToItsStageAndNothingOfTheFirstIsShown) {
  EXPECT_EQ(run({says(kNeeds), says(kDone)}), RunStatus::completed);

  EXPECT_EQ(life->facts("r1"), (Names{"run_started", "step_started", "usage_recorded", "step_finished",
                                      "step_started", "reply_started", "text_started", "usage_recorded",
                                      "answer_completed", "step_finished", "run_finished"}));
  EXPECT_EQ(all<AnswerCompleted>().at(0).answer, "Done.");
  EXPECT_EQ(life->history().at(1).content, "Done.");
}

TEST_F(RunFlowTest, FLOW_2_ToolsAreCalledAndTheirResultsGoBackToTheModel) {
  EXPECT_EQ(run({says(kNeeds), calls_tool(kEcho, "I look. "), says(kDone)}), RunStatus::completed);

  EXPECT_EQ(
      life->facts("r1"),
      (Names{"run_started",   "step_started",   "usage_recorded", "step_finished",     "step_started",
             "reply_started", "text_started",   "text_ended",     "tool_call_started", "tool_preparing",
             "tool_intent",   "usage_recorded", "tool_args",      "tool_call_ended",   "tool_started",
             "tool_progress", "tool_result",    "text_started",   "usage_recorded",    "answer_completed",
             "step_finished", "run_finished"}));
  auto const last = script->requests().back().messages;
  ASSERT_GE(last.size(), 2U);
  auto const& asked = last[last.size() - 2];
  EXPECT_EQ(asked.text, "I look. ");
  ASSERT_EQ(asked.tool_calls.size(), 1U);
  EXPECT_EQ(asked.tool_calls[0].arguments, kEcho);
  EXPECT_EQ(last.back().speaker, Speaker::tool);
  EXPECT_EQ(last.back().text, R"({"module":"m","method":"echo","data":{"x":1}})");
  EXPECT_EQ(last.back().tool_call_id, asked.tool_calls[0].id);
  EXPECT_EQ(all<ToolArgs>().at(0).args.str(), R"({"module":"m","method":"echo","input":{"x":1}})");
  auto const history = life->history();
  ASSERT_EQ(history.size(), 5U);  // user, words, call, result, answer
  EXPECT_EQ(history[2].content, R"({"module":"m","method":"echo","input":{"x":1}})");
  EXPECT_EQ(history[3].role, store::Role::tool);
  EXPECT_EQ(all<RunFinished>().at(0).model_calls, 2);
  EXPECT_EQ(all<RunFinished>().at(0).tool_calls, 1);
}

TEST_F(RunFlowTest, USE_2_BuiltInModelsAreToldWhatStandsInNoPrompt) {
  EXPECT_EQ(run({says(kNeeds), calls_tool(kEcho), says(kDone)}), RunStatus::completed);

  auto const requests = script->requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_TRUE(requests[0].earlier_results.empty());
  EXPECT_EQ(requests[0].opening_messages, requests[0].messages.size());
  EXPECT_EQ(requests[1].earlier_results.size(), 1U);
  EXPECT_EQ(requests[1].opening_messages, requests[1].messages.size());
  EXPECT_EQ(requests[2].opening_messages + 2, requests[2].messages.size());  // The call and its result.
  EXPECT_EQ(requests[2].now_ms, requests[1].now_ms);
  EXPECT_EQ(requests[2].timezone, Preferences{}.timezone);
  EXPECT_FALSE(requests[2].user_text.empty());
}

TEST_F(RunFlowTest, FLOW_2_AfterMaxItersOneCallWithoutToolsCloses) {
  EXPECT_EQ(run({says(kNeeds), calls_tool(kEcho), calls_tool(kEcho), says(kDone)}), RunStatus::completed);

  auto const requests = script->requests();
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_EQ(requests[2].tools.size(), 1U);
  EXPECT_TRUE(requests[3].tools.empty());
  EXPECT_EQ(requests[3].messages.back().text, "Answer now.");
}

TEST_F(RunFlowTest, FLOW_2_AskingForToolsInTheClosingCallFailsTheRun) {
  EXPECT_EQ(run({says(kNeeds), calls_tool(kEcho), calls_tool(kEcho), calls_tool(kEcho)}), RunStatus::failed);
  EXPECT_EQ(all<RunFailed>().at(0).code, "RUN_ITERATION_LIMIT");
}

TEST_F(RunFlowTest, FLOW_2_AToolsFailureIsToldToTheModelAndTheRunGoesOn) {
  constexpr char kFail[] = R"({"module":"m","method":"fail","input":{}})";
  EXPECT_EQ(run({says(kNeeds), calls_tool(kFail), calls_tool("no json at all"), says(kDone)}),
            RunStatus::completed);
  auto const results = all<ToolResult>();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].status, ToolStatus::failure);
  EXPECT_EQ(json::parse(results[0].result.str()).at("error").at("code"), "TEST_FAILURE");
  EXPECT_EQ(json::parse(results[1].result.str()).at("error").at("code"), "INVALID_ACTION_INPUT");
  EXPECT_EQ(script->requests()[3].messages.end()[-2].text, results[1].result.str());
}

TEST_F(RunFlowTest, FLOW_2_ACallWhoseArgumentsWereCutOffIsNotMade) {
  ScriptedAttempt const cut{TextPiece{"Let me see. "}, ToolCallPiece{0, "p1", "project_cli", "{\"modu"},
                            answered(10, 5, model::Finish::length)};
  EXPECT_EQ(run({says(kNeeds), cut}), RunStatus::completed);
  EXPECT_TRUE(all<ToolStarted>().empty());
  auto const results = all<ToolResult>();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(json::parse(results[0].result.str()).at("error").at("code"), "ARGUMENTS_CUT_OFF");
  EXPECT_EQ(all<AnswerCompleted>().at(0).status, AnswerStatus::partial_success);
}

TEST_F(RunFlowTest, FLOW_4_AnOutputThatBreaksItsContractIsSentBackWithTheErrors) {
  EXPECT_EQ(run({says("no JSON"), says(R"({"route":"NEEDS"})"), says(kNeeds), says(kDone)}),
            RunStatus::completed);

  auto const requests = script->requests();
  ASSERT_EQ(requests.size(), 4U);
  auto const& again = requests[2].messages;
  EXPECT_EQ(again.end()[-4].text, "no JSON");
  EXPECT_TRUE(again.end()[-3].text.starts_with("Wrong: ")) << again.end()[-3].text;
  EXPECT_EQ(again.end()[-2].text, R"({"route":"NEEDS"})");
  EXPECT_NE(again.back().text.find("brief"), std::string::npos) << again.back().text;
  EXPECT_EQ(all<RunFinished>().at(0).repairs, 2);
}

TEST_F(RunFlowTest, FLOW_4_AfterTwoRepairsTheRunFails) {
  EXPECT_EQ(run({says("a"), says("b"), says("c"), says(kNeeds)}), RunStatus::failed);
  EXPECT_EQ(all<RunFailed>().at(0).code, "CONTRACT_VIOLATION");
  EXPECT_EQ(script->requests().size(), 3U);
}

TEST_F(RunFlowTest, FLOW_4_PlainProseOfTheWorkerIsItsAnswer) {
  EXPECT_EQ(run({says(kNeeds), says("Nothing to do.")}), RunStatus::completed);
  EXPECT_EQ(all<AnswerCompleted>().at(0).answer, "Nothing to do.");
}

TEST_F(RunFlowTest, FLOW_4_BlanksAreNoAnswer) {
  EXPECT_EQ(run({says(kNeeds), says(" \n "), says(kDone)}), RunStatus::completed);
  EXPECT_EQ(all<AnswerCompleted>().at(0).answer, "Done.");
  EXPECT_EQ(all<TextStarted>().size(), 1U);
  EXPECT_EQ(all<RunFinished>().at(0).repairs, 1);
}

flow::Catalog one_worker() {
  auto worker = worker_stage("", "");
  worker.listens.clear();
  std::vector<flow::Stage> stages;
  stages.push_back(std::move(worker));
  return catalog_of(std::move(stages));
}

ScriptedAttempt cut(std::string text) {
  ScriptedAttempt attempt;
  if (!text.empty()) attempt.emplace_back(TextPiece{std::move(text)});
  attempt.emplace_back(answered(10, 5, model::Finish::length));
  return attempt;
}

TEST_F(RunFlowTest, V2_6_AnAnswerWithoutAWordIsSentBackAlsoWhereThereIsNoContract) {
  EXPECT_EQ(run({says(" \n"), {answered(10, 0)}, says("Hello")}, chat_catalog()), RunStatus::completed);

  EXPECT_EQ(all<AnswerCompleted>().at(0).answer, "Hello");
  EXPECT_EQ(all<TextStarted>().size(), 1U);
  EXPECT_EQ(all<RunFinished>().at(0).repairs, 2);
  auto const messages = script->requests().at(1).messages;
  EXPECT_TRUE(messages.back().text.starts_with("Again: ")) << messages.back().text;
  EXPECT_EQ(messages.size(), script->requests().at(0).messages.size() + 1) << "blanks are not repeated";
}

TEST_F(RunFlowTest, V2_6_AfterTwoRepairsAModelThatSaysNothingFailsTheRun) {
  EXPECT_EQ(run({says(""), says(" "), says("\n"), says("Hello")}, chat_catalog()), RunStatus::failed);
  EXPECT_EQ(all<RunFailed>().at(0).code, "MODEL_EMPTY_ANSWER");
  EXPECT_EQ(script->requests().size(), 3U);
}

TEST_F(RunFlowTest, V2_6_TheSecondCutForLengthIsTheLast) {
  EXPECT_EQ(run({cut(""), cut(""), says("Hello")}, chat_catalog()), RunStatus::failed);
  EXPECT_EQ(all<RunFailed>().at(0).code, "MODEL_TOO_LONG");
  EXPECT_EQ(script->requests().size(), 2U);
}

TEST_F(RunFlowTest, V2_6_RepairsOfAllKindsAreSharedAndTheLastOutputNamesTheCode) {
  EXPECT_EQ(run({cut(R"({"status":"SUC)"), says(R"({"status":"no"})"), says(" "), says(kDone)}, one_worker()),
            RunStatus::failed);
  EXPECT_EQ(all<RunFailed>().at(0).code, "MODEL_EMPTY_ANSWER");
  EXPECT_EQ(script->requests().size(), 3U);
}

TEST_F(RunFlowTest, V2_6_TextThatWasShownAndThenCutForLengthIsAnAnswerInPart) {
  EXPECT_EQ(run({cut(R"({"status":"SUCCESS","answer":"Half an ans)")}, one_worker()), RunStatus::completed);

  auto const answer = all<AnswerCompleted>().at(0);
  EXPECT_EQ(answer.status, AnswerStatus::partial_success);
  EXPECT_EQ(answer.answer, "Half an ans");
  EXPECT_EQ(all<TextStarted>().size(), 1U);
  EXPECT_EQ(script->requests().size(), 1U);
}

TEST_F(RunFlowTest, V2_6_OfARouterTooWhereItsTextIsForTheUser) {
  EXPECT_EQ(run({cut(R"({"route":"DIRECT","text":"Half an ans)")}), RunStatus::completed);
  EXPECT_EQ(all<AnswerCompleted>().at(0).answer, "Half an ans");
  EXPECT_EQ(all<AnswerCompleted>().at(0).status, AnswerStatus::partial_success);
}

TEST_F(RunFlowTest, V2_6_AModelThatSaidNothingMayStillUseItsTools) {
  EXPECT_EQ(run({says(""), calls_tool(kEcho), says(kDone)}, one_worker()), RunStatus::completed);
  EXPECT_EQ(all<ToolResult>().size(), 1U);
  EXPECT_FALSE(script->requests().at(1).tools.empty());
}

TEST_F(RunFlowTest, FLOW_4_TextIsShownWhereverItStandsAndSupersededByItsRepair) {
  EXPECT_EQ(
      run({says(R"({"answer":"First","status":"DONE"})"), says(R"({"answer":"Second","status":"SUCCESS"})")},
          one_worker()),
      RunStatus::completed);

  auto const begun = all<TextStarted>();
  ASSERT_EQ(begun.size(), 2U);
  EXPECT_NE(begun[0].message, begun[1].message);
  auto const ended = all<TextEnded>();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].message, begun[0].message);
  EXPECT_EQ(ended[0].text, "First");
  EXPECT_EQ(ended[0].outcome, TextOutcome::superseded);
  EXPECT_EQ(all<AnswerCompleted>().at(0).answer, "Second");
  EXPECT_EQ(rows("SELECT visibility_mask FROM agent_chat_messages WHERE content = 'First'"),
            (store::TextRows{{"0"}}))
      << "RUN-14";
}

TEST_F(RunFlowTest, FLOW_4_ATextThatComesTwiceIsTheLast) {
  EXPECT_EQ(run({says(R"({"answer":"First","status":"SUCCESS","answer":"Second"})")}, one_worker()),
            RunStatus::completed);
  EXPECT_EQ(all<AnswerCompleted>().at(0).answer, "Second");
  EXPECT_EQ(all<TextStarted>().size(), 2U);
}

TEST_F(RunFlowTest, FLOW_3_StatusAndErrorComeFromTheResult) {
  EXPECT_EQ(run({says(kNeeds), says(R"({"status":"FAILED","error":"no calendar","answer":"Sorry."})")}),
            RunStatus::completed);
  auto const answer = all<AnswerCompleted>().at(0);
  EXPECT_EQ(answer.status, AnswerStatus::failed);
  EXPECT_EQ(answer.error->str(), R"({"message":"no calendar"})");
}

TEST_F(RunFlowTest, FLOW_4_AnswersAsDeepAsAnyAreReadWhole) {
  std::string const deep = std::string(50, '[') + std::string(50, ']');
  EXPECT_EQ(run({says(kNeeds), says(R"({"status":"FAILED","more":)" + deep + R"(,"answer":"Sorry."})")}),
            RunStatus::completed);
  auto const answer = all<AnswerCompleted>().at(0);
  EXPECT_EQ(answer.answer, "Sorry.");
  EXPECT_EQ(answer.status, AnswerStatus::failed);
}

TEST_F(RunFlowTest, FLOW_1_AModelThatARunNamesIsUsedInAllStages) {
  for (auto const& [named, expected] :
       {std::pair{"m", Names{"m", "m"}}, std::pair{"", Names{"of-the-stage", "of-the-agent"}}}) {
    script = std::make_shared<Script>(std::vector{says(kNeeds), says(kDone)});
    std::vector<std::unique_ptr<model::Provider>> providers;
    for (auto const* name : {"m", "of-the-stage", "of-the-agent"})
      providers.push_back(std::make_unique<ScriptedProvider>(name, script));
    std::vector<flow::Stage> stages{intent_stage(), worker_stage("intent", "NEEDS")};
    stages[0].model = "of-the-stage";
    stages[1].settings.model = "of-the-agent";
    Life one{folder.file(std::string{"runnel-"} + named + ".db"), model::Registry{std::move(providers)},
             Terms{}, catalog_of(std::move(stages))};
    one.start("r1", "hello", store::OnBusy::reject, named);
    one.ended("r1");
    Names models;
    for (auto const& request : script->requests())
      models.push_back(request.model);
    EXPECT_EQ(models, expected);
  }
}

TEST_F(RunFlowTest, USE_8_EachCallIsBookedOnTheRowOfItsStage) {
  EXPECT_EQ(run({says("nonsense"), says(kNeeds), calls_tool(kEcho), says(kDone)}), RunStatus::completed);
  auto const usage = all<RunFinished>().at(0).usage;
  ASSERT_EQ(usage.size(), 1U);
  EXPECT_EQ(usage[0].tokens.input, 40);
  EXPECT_EQ(all<AnswerCompleted>().at(0).usage.tokens.input, 20);  // The worker's two calls.
  EXPECT_EQ(
      booked(),
      (store::TextRows{
          {"intent", "-2", "20"}, {"intent", "-2", "20"}, {"worker", "4", "20"}, {"worker", "4", "20"}}));
}

TEST_F(RunFlowTest, USE_8_CallsOfARunThatBrokeAreBookedOnAnAuditRow) {
  EXPECT_EQ(run({says("a"), says("b"), says("c")}), RunStatus::failed);
  EXPECT_EQ(booked(), (store::TextRows(3, {"intent", "-4", "30"})));  // After the rows of the three outputs.
}

TEST_F(RunFlowTest, USE_1_ThoughtsAfterWordsAreNotShown) {
  std::vector<flow::Stage> stages;
  stages.push_back(prose_stage("chat"));
  EXPECT_EQ(run({{TextPiece{"Hi"}, model::ReasoningPiece{"hm"}, TextPiece{" there"}, answered(1, 1)}},
                catalog_of(std::move(stages))),
            RunStatus::completed);
  EXPECT_EQ(all<AnswerCompleted>().at(0).answer, "Hi there");
  EXPECT_TRUE(all<ReasoningOpened>().empty());
}

TEST_F(RunFlowTest, RUN_9_WhatAMemoryStageProducesIsNoContext) {
  auto stage = worker_stage("intent", "NEEDS");
  stage.kind = flow::StageKind::memory;
  std::vector<flow::Stage> stages;
  stages.push_back(intent_stage());
  stages.push_back(std::move(stage));
  run({says(kNeeds), calls_tool(kEcho, "I look. "), says(kDone)}, catalog_of(std::move(stages)));
  EXPECT_EQ(rows("SELECT visibility_mask FROM agent_chat_messages WHERE seq > 0 ORDER BY seq"),
            (store::TextRows{{"3"}, {"1"}, {"1"}, {"1"}, {"1"}}));
}

TEST_F(RunFlowTest, FLOW_1_LimitsEndTheRunWithACodeOfTheirOwn) {
  flow::Limits limits;
  limits.model_calls = 1;
  EXPECT_EQ(run({says(kNeeds), says(kDone)}, two_stages(limits)), RunStatus::failed);
  EXPECT_EQ(all<RunFailed>().at(0).code, "RUN_MODEL_CALL_LIMIT");
}

TEST_F(RunFlowTest, FLOW_1_TokensAreLimited) {
  flow::Limits limits;
  limits.tokens = 15;
  EXPECT_EQ(run({says(kNeeds), says(kDone)}, two_stages(limits)), RunStatus::failed);
  EXPECT_EQ(all<RunFailed>().at(0).code, "RUN_TOKEN_LIMIT");
}

TEST_F(RunFlowTest, FLOW_1_TimeIsLimited) {
  flow::Limits limits;
  limits.seconds = 1;
  EXPECT_EQ(run({says(kNeeds), {TextPiece{"I think"}}}, two_stages(limits)), RunStatus::failed);
  EXPECT_EQ(all<RunFailed>().at(0).code, "RUN_TIME_LIMIT");
}

TEST_F(RunFlowTest, FLOW_6_EveryCallOfARunBeginsWithTheSameSystemMessage) {
  run({says("nonsense"), says(kNeeds), calls_tool(kEcho), says(kDone)});
  auto const requests = script->requests();
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_TRUE(requests[0].messages[0].text.starts_with("# System Policy\n"));
  for (auto const& request : requests)
    EXPECT_EQ(request.messages[0].text, requests[0].messages[0].text);
}

}  // namespace
}  // namespace runnel::runtime
