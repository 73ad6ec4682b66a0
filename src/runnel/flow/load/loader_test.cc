#include "runnel/flow/load/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/flow/prompt/prompt.h"
#include "runnel/flow/testing/loader_test_support.h"

namespace runnel::flow {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Loader, FLOW_1_TheShippedFilesAreGood) {
  auto const loaded = load_catalog(shipped_files(), known_things());

  EXPECT_THAT(loaded.problems, ElementsAre());
  ASSERT_TRUE(loaded.catalog);
  EXPECT_THAT(loaded.catalog->names(), ElementsAre("chat", "intent_execution_organization", "router_worker"));
  EXPECT_EQ(loaded.catalog->default_name(), "router_worker");
}

TEST(Loader, V2_6_FolderWithoutTheTextForAnEmptyAnswerUsesTheOneForRepairs) {
  auto files = shipped_files();
  auto& prompts = files.texts.at("prompts.yaml");
  auto const begin = prompts.find("\nagain:") + 1;
  prompts.erase(begin, prompts.find("\nclosing:") + 1 - begin);

  EXPECT_THAT(problems_in(files), ElementsAre());
}

TEST(Loader, FLOW_2_TheDefaultFlowIsRouterThenWorker) {
  auto const catalog = *load_catalog(shipped_files(), known_things()).catalog;
  auto const& flow = *catalog.find("router_worker");

  EXPECT_EQ(flow.first().name, "router");
  auto const& worker = *flow.next("router", "");
  EXPECT_EQ(worker.name, "worker");
  EXPECT_EQ(flow.next("worker", ""), nullptr);
  EXPECT_TRUE(worker.prose_allowed);
  EXPECT_EQ(worker.settings.max_iters, 7);
  EXPECT_EQ(worker.agent.name, "worker");
  EXPECT_EQ(worker.answer->text, "answer");
  EXPECT_EQ(worker.answer->suggested_actions->field, "suggested_actions");
  EXPECT_EQ(flow.limits.model_calls, 20);
}

TEST(Loader, FLOW_3_IntentAnswersOrLeadsToExecutionAndOrganization) {
  auto const catalog = *load_catalog(shipped_files(), known_things()).catalog;
  auto const& flow = *catalog.find("intent_execution_organization");

  auto const& intent = flow.first();
  EXPECT_EQ(intent.router, "route");
  EXPECT_EQ(intent.answer->on, "DIRECT_EXECUTION");
  EXPECT_EQ(flow.next("intent", "DIRECT_EXECUTION"), nullptr);
  auto const& execution = *flow.next("intent", "NEEDS_EXECUTION");
  EXPECT_EQ(execution.name, "execution");
  EXPECT_EQ(execution.context, ContextScope::input);
  EXPECT_FALSE(execution.answer);
  auto const& organization = *flow.next("execution", "");
  EXPECT_EQ(organization.context, ContextScope::none);
  EXPECT_EQ(organization.answer->status->stage, "execution");
  EXPECT_EQ(organization.answer->error->field, "error_message");
  EXPECT_EQ(flow.next("organization", ""), nullptr);
}

TEST(Loader, FLOW_8_ChatIsOneStageOfProse) {
  auto const catalog = *load_catalog(shipped_files(), known_things()).catalog;
  auto const& flow = *catalog.find("chat");

  ASSERT_EQ(flow.stages.size(), 1u);
  EXPECT_EQ(flow.first().contract, nullptr);
  EXPECT_TRUE(flow.first().answer);
  EXPECT_TRUE(flow.first().tools.empty());
}

TEST(Loader, FLOW_4_TheTextFieldOfEachContractIsTheLast) {
  auto const catalog = *load_catalog(shipped_files(), known_things()).catalog;
  for (auto const& name : catalog.names()) {
    for (auto const& stage : catalog.find(name)->stages) {
      if (!stage.contract || !stage.answer) continue;
      auto const& schema = stage.contract->schema_text();
      auto const text = schema.find("\"" + stage.answer->text + "\":{");
      ASSERT_NE(text, std::string::npos) << schema;
      EXPECT_EQ(schema.find("\":{", text + stage.answer->text.size() + 3), std::string::npos) << schema;
    }
  }
}

TEST(Loader, FLOW_1_FilesThatAreMissingEmptyOrBrokenAreTold) {
  auto const all = shipped_files();
  for (auto const& [name, text] : all.texts) {
    SCOPED_TRACE(name);
    auto files = all;
    if (!name.starts_with("flows/")) {
      files.texts.erase(name);
      EXPECT_THAT(problems_in(files),
                  ElementsAre("conf/" + name + ": there is no such file, or it cannot be read"));
    }
    files.texts[name] = "# Nothing.\n";
    EXPECT_THAT(problems_in(files), ElementsAre("conf/" + name + ": the file is empty"));
    files.texts[name] = "a: b\nc: [\n";
    EXPECT_THAT(problems_in(files), ElementsAre(StartsWith("conf/" + name + ":3:1:")));
    files.texts[name] = "- a\n- b\n";
    EXPECT_THAT(problems_in(files), ElementsAre("conf/" + name + ":1:1: expected a map"));
    files.texts[name] = "a: b\nc: \xff\n";
    EXPECT_THAT(problems_in(files),
                ElementsAre("conf/" + name + ":2:4: the file is not UTF-8 text from here on"));
    files.texts[name] = "a: b\nc: x\x07y\n";
    EXPECT_THAT(problems_in(files),
                ElementsAre("conf/" + name + ":2:5: the control character U+0007 is not allowed in a file"));
    files.texts[name] = "a: b\nc: " + std::string(5000, '[') + "\n";
    EXPECT_THAT(problems_in(files),
                ElementsAre(AllOf(StartsWith("conf/" + name + ":"), HasSubstr(": nested too deeply"))));
    files.texts[name] = text + "\n---\na: b\n";
    EXPECT_THAT(problems_in(files), ElementsAre(HasSubstr("a second document begins here")));
  }
}

TEST(Loader, FLOW_1_UnreadableFlowFilesAndNoFlowsAreTold) {
  auto files = shipped_files();
  files.unreadable = {"flows/mine.yaml"};
  EXPECT_THAT(problems_in(files),
              ElementsAre("conf/flows/mine.yaml: there is no such file, or it cannot be read"));

  files.unreadable.clear();
  std::erase_if(files.texts, [](auto const& file) { return file.first.starts_with("flows/"); });
  EXPECT_THAT(problems_in(files), ElementsAre("conf/flows: there is no flow in this folder"));
}

TEST(Loader, FLOW_8_TheDefaultMustBeOneOfTheFlows) {
  auto known = known_things();
  known.default_flow = "chatt";

  EXPECT_THAT(load_catalog(shipped_files(), known).problems,
              ElementsAre("flows.default: there is no flow 'chatt'; the flows are chat, "
                          "intent_execution_organization, router_worker"));
}

TEST(Loader, FLOW_1_WithoutToolsEachToolIsUnknown) {
  auto known = known_things();
  known.tools.clear();

  EXPECT_THAT(load_catalog(shipped_files(), known).problems,
              Each(HasSubstr("no tool 'project_cli': this version has no tools")));
}

// Plan, act, check, answer: two paths lead to the last stage, and only one of them passes `act`.
constexpr char kFourStages[] = R"(
name: four
stages:
  answer:
    listen: [check.GOOD, plan.DIRECT_EXECUTION]
    task: tell
    answer: true
  plan:
    start: true
    task: recognise_intent
    contract: IntentResult
    router: route
  act:
    listen: plan.NEEDS_EXECUTION
    task: converse
    tools: [project_cli]
    kind: memory
    max_iters: 3
    model: offline
  check:
    listen: act
    task: look
    contract: Verdict
    router: verdict
    answer: {text: why, on: BAD}
    max_repairs: 0
)";

Files four_stages() {
  auto files = shipped_files();
  files.texts["flows/four.yaml"] = kFourStages;
  files.texts["tasks.yaml"] += R"(
tell: {agent: assistant, description: 'Tell {plan} {plan.route}', expected_output: words}
look: {agent: assistant, description: 'Look at {act} {act.text} {plan}', expected_output: words}
)";
  files.texts["contracts.yaml"] += R"(
Verdict:
  schema:
    type: object
    required: [verdict, why]
    properties: {verdict: {enum: [GOOD, BAD]}, why: {type: string}}
)";
  return files;
}

TEST(Loader, FLOW_1_AFlowOfOnesOwnNeedsOnlyItsFile) {
  auto const loaded = load_catalog(four_stages(), known_things());

  EXPECT_THAT(loaded.problems, ElementsAre());
  auto const& flow = *loaded.catalog->find("four");
  EXPECT_EQ(flow.first().name, "plan");
  EXPECT_EQ(flow.next("plan", "DIRECT_EXECUTION")->name, "answer");
  EXPECT_EQ(flow.next("act", "")->name, "check");
  EXPECT_EQ(flow.next("check", "GOOD")->name, "answer");
  EXPECT_EQ(flow.next("check", "BAD"), nullptr);
  auto const& act = *flow.find("act");
  EXPECT_EQ(act.kind, StageKind::memory);
  EXPECT_EQ(act.settings.max_iters, 3);
  EXPECT_EQ(act.model, "offline");
  EXPECT_EQ(flow.find("check")->max_repairs, 0);
}

// The pieces of YAML in docs/flows.md.
std::vector<std::string> documented_pieces() {
  std::ifstream file{std::string{RUNNEL_SOURCE_DIR} + "/docs/flows.md"};
  std::string const text{std::istreambuf_iterator<char>{file}, {}};
  std::string const fence = "```yaml\n";
  std::vector<std::string> pieces;
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) {
    auto const begin = at + fence.size();
    pieces.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return pieces;
}

// The pieces in their order: a flow, its tasks, a contract, a flow with the test tool.
TEST(Loader, FLOW_1_TheExamplesInTheDocumentationAreGood) {
  auto const pieces = documented_pieces();
  ASSERT_EQ(pieces.size(), 4u);
  auto files = shipped_files();
  files.texts["flows/plan_act_answer.yaml"] = pieces[0];
  files.texts["tasks.yaml"] += "\n" + pieces[1];
  files.texts["flows/tool_try.yaml"] = pieces[3];

  auto const loaded = load_catalog(files, known_things());

  EXPECT_THAT(loaded.problems, ElementsAre());
  EXPECT_NE(loaded.catalog->find("plan_act_answer"), nullptr);
}

TEST(Loader, FLOW_1_PlaceholderOfAStageThatOneWayLeavesOutIsTold) {
  auto files = four_stages();
  replace_once(files.texts["tasks.yaml"], "Tell {plan}", "Tell {check}");

  EXPECT_THAT(problems_in(files),
              ElementsAre(AllOf(StartsWith(place_of(files, "tasks.yaml", "{check}")),
                                HasSubstr("'check' does not come before 'answer' on every path"))));
}

TEST(Loader, FLOW_1_TheMessageAboutAnUnknownPlaceholderNamesAllThereAre) {
  auto files = four_stages();
  replace_once(files.texts["tasks.yaml"], "Look at {act}", "Look at {atc}");
  auto const problems = problems_in(files);

  ASSERT_EQ(problems.size(), 1u);
  std::vector<std::string> names;
  Template const named{problems.front().substr(problems.front().find("the placeholders are"))};
  for (auto const& placeholder : named.placeholders())
    names.push_back(placeholder.name);
  EXPECT_THAT(names, ElementsAre("today", "weekday", "timezone", "ai_language", "interface_language",
                                 "country", "input", "act", "act.FIELD", "plan", "plan.FIELD"));
  EXPECT_EQ(std::count_if(names.begin(), names.end(), is_run_placeholder), 7);
}

TEST(Loader, FLOW_1_StageWithoutContractHasOnlyItsText) {
  auto files = four_stages();
  replace_once(files.texts["tasks.yaml"], "{act.text}", "{act.route}");

  EXPECT_THAT(problems_in(files), ElementsAre(HasSubstr("its only field is 'text', not 'route'")));
}

TEST(Loader, FLOW_1_CircleAcrossARouterIsTold) {
  auto files = four_stages();
  replace_once(files.texts["flows/four.yaml"], "listen: plan.NEEDS_EXECUTION",
               "listen: [plan.NEEDS_EXECUTION, check.BAD]");

  EXPECT_THAT(problems_in(files),
              ElementsAre(AllOf(StartsWith(place_of(files, "flows/four.yaml", "check.BAD")),
                                HasSubstr("form a cycle: act → check → act"))));
}

TEST(Loader, FLOW_1_APlaceholderIsToldOnItsOwnLine) {
  auto files = shipped_files();
  files.texts["tasks.yaml"] += R"(
tell:  # {no} {no}
  agent: assistant
  description: |  # {no}
    {today} ok
      {no} and {today}
    {no}
  expected_output: "folded {today}
    and {none}"
)";
  replace_once(files.texts.at(kChat), "task: converse", "task: tell");
  auto const last = std::count(files.texts["tasks.yaml"].begin(), files.texts["tasks.yaml"].end(), '\n');
  auto const line = [&](int back) { return "conf/tasks.yaml:" + std::to_string(last - back) + ":"; };

  EXPECT_THAT(problems_in(files), ElementsAre(StartsWith(line(3) + "7:"), StartsWith(line(2) + "5:"),
                                              StartsWith(line(0) + "9:")));
}

TEST(Loader, FLOW_1_ATextThatManyStagesUseIsToldOnce) {
  auto files = four_stages();
  replace_once(files.texts["tasks.yaml"], "in the light of", "in the {light} of");

  EXPECT_THAT(problems_in(files), ElementsAre(HasSubstr("{light} in stage 'chat' of flow 'chat'")));
}

TEST(Loader, FLOW_1_AnAliasThatHoldsItselfIsRefused) {
  auto files = shipped_files();
  files.texts["contracts.yaml"] +=
      "\nOwn:\n  schema: &own {type: object, properties: {a: *own, b: *own, c: *own}}\n";

  EXPECT_THAT(problems_in(files), ElementsAre(HasSubstr("nested too deeply")));
}

TEST(Loader, FLOW_1_AliasesThatGrowWithoutEndAreRefused) {
  auto files = shipped_files();
  auto& text = files.texts["contracts.yaml"];
  text +=
      "\nLaughs:\n  schema:\n    type: object\n    definitions:\n      a0: &a0 {enum: [ha, ha, ha, ha]}\n";
  for (int i = 1; i <= 20; ++i) {
    auto const [one, other] = std::pair{std::to_string(i), "*a" + std::to_string(i - 1)};
    text += "      a" + one + ": &a" + one + " {anyOf: [" + other + ", " + other + ", " + other + "]}\n";
  }

  EXPECT_THAT(problems_in(files), ElementsAre(AllOf(StartsWith("conf/contracts.yaml:"),
                                                    HasSubstr("a schema has at most 10000 parts"))));
}

AgentSettings settings_of(Files const& files, std::string_view flow, std::string_view stage) {
  auto const loaded = load_catalog(files, known_things());
  EXPECT_THAT(loaded.problems, ElementsAre());
  return loaded.catalog->find(flow)->find(stage)->settings;
}

TEST(Loader, RUN_9_ContextThatAnAgentDoesNotSetIsTheRouters) {
  auto files = shipped_files();
  files.texts["system_agents.yaml"] =
      "worker: {context_tokens: 60}\n"
      "router: {context_messages: 5, context_tokens: 100, max_iters: 3, model: offline}\n";

  auto const worker = settings_of(files, "router_worker", "worker");
  EXPECT_EQ(worker.context_messages, 5u);
  EXPECT_EQ(worker.context_tokens, 60);
  auto const chat = settings_of(files, "chat", "chat");
  EXPECT_EQ(chat.context_messages, 5u);
  EXPECT_EQ(chat.context_tokens, 100);
  EXPECT_EQ(chat.max_iters, AgentSettings{}.max_iters);
  EXPECT_EQ(chat.model, "");
}

TEST(Loader, RUN_9_WithoutARouterContextHasItsDefaults) {
  auto files = shipped_files();
  files.texts["system_agents.yaml"] = "worker: {context_messages: 5}\n";

  EXPECT_EQ(settings_of(files, "router_worker", "worker").context_tokens, 32'000);
  EXPECT_EQ(settings_of(files, "router_worker", "router").context_messages, 40u);
  EXPECT_EQ(settings_of(files, "chat", "chat").context_messages, 40u);
}

TEST(Loader, FLOW_1_TextsHaveNoBlanksAround) {
  auto const catalog = *load_catalog(shipped_files(), known_things()).catalog;

  auto const& text = catalog.texts().closing.text();
  EXPECT_EQ(text.front(), 'Y');
  EXPECT_EQ(text.back(), '.');
}

}  // namespace
}  // namespace runnel::flow
