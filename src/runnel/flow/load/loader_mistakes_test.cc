#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runnel/flow/load/loader.h"
#include "runnel/flow/testing/loader_test_support.h"

namespace runnel::flow {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A change to a shipped file, and the only message that it causes: it names the place of `at` in the changed
// file and contains `what`.
struct Mistake {
  char const* file;
  char const* from;
  char const* to;
  char const* at;
  char const* what;
  char const* at_file = "";  // The file that the message names, if it is not `file`.
};

std::vector<Mistake> const& mistakes() {
  static std::vector<Mistake> const table{
      // Agents, tasks and how they are run.
      {"agents.yaml", "  role: Helpful", "  rle: Helpful",
       "rle:", "unknown key 'rle'; known here: role, goal, backstory"},
      {"agents.yaml", "  role: Helpful assistant\n", "", "assistant:\n", "'role' is missing"},
      {"agents.yaml", "role: Helpful assistant", "role: \"\"", "\"\"", "'role' must not be empty"},
      {"agents.yaml", "role: Helpful assistant", "role: [a, b]", "[a, b]", "'role' must be a single value"},
      {"agents.yaml", "  role: Helpful assistant\n", "  role: Helpful assistant\n  role: Poet\n",
       "role: Poet", "'role' is set twice"},
      {"agents.yaml", "precise and brief", "precise and {brif}", "{brif}",
       "unknown placeholder; the placeholders are {today}"},
      {"agents.yaml", "precise and brief", "precise and {input}", "{input}", "belongs in a task"},
      {"agents.yaml", "You add no facts", "{execution} You add no facts", "{execution}", "belongs in a task"},
      {"tasks.yaml", "agent: worker", "agent: wroker", "wroker",
       "agents.yaml has no agent 'wroker'; it has assistant"},
      {"tasks.yaml", "  expected_output: The answer itself, as plain text or Markdown.\n", "",
       "converse:", "'expected_output' is missing"},
      {"tasks.yaml", "    {router}\n", "    {ruter}\n", "{ruter}",
       "{ruter} in stage 'worker' of flow 'router_worker'"},
      {"tasks.yaml", "{intent.execution_brief}", "{intent.brief}", "{intent.brief}",
       "contract IntentResult of stage 'intent' has no field 'brief'"},
      {"tasks.yaml", "Decide how it goes on.", "Decide {organization}.", "{organization}.",
       "stage 'organization' does not come before 'intent' on every path"},
      {"tasks.yaml", "the language {ai_language}. Markdown", "the language {ai_langage}. Markdown",
       "{ai_langage}", "unknown placeholder"},
      {"system_agents.yaml",
       "\ntask_executor:", "\ntask_exectuor:", "task_exectuor:", "agents.yaml has no agent 'task_exectuor'"},
      {"system_agents.yaml", "max_iters: 7", "max_iters: 0", "0\n\nworker",
       "'max_iters' must be a whole number from 1 to 100"},
      {"system_agents.yaml", "max_iters: 7", "max_iters: seven", "seven",
       "'max_iters' must be a whole number"},
      {"system_agents.yaml", "enabled_skills: []", "enabled_skills: calendar", "calendar",
       "'enabled_skills' must be a list"},
      {"system_agents.yaml", "enabled_skills: []", "enabled_skills: [[a]]", "[a]]",
       "must be a list of single values"},
      {"system_agents.yaml", "enabled_skills: []", "enabled_skills: [calender]", "calender",
       "there is no skill 'calender'; the skills are calendar, contacts, memory"},
      {"system_agents.yaml", "enabled_skills: []", "enabled_skills: [../calendar]", "../calendar",
       "there is no skill '../calendar'"},
      {"system_agents.yaml", "context_tokens: 32000", "context_tokens: lots", "lots",
       "'context_tokens' must be a whole number from 0 to 10000000"},
      {"system_agents.yaml", "  max_iters: 7", "  model: gpt-0", "gpt-0",
       "no provider has a model 'gpt-0'; known: offline"},
      // Contracts.
      {"contracts.yaml", "WorkerResult:", "Odd-One:\n  schema: {type: object}\n\nWorkerResult:", "Odd-One",
       "a contract is called 'Odd-One'"},
      {"contracts.yaml", "execution_summary: {type: string}", "execution_summary: {type: text}", "text}",
       "/properties/execution_summary/type"},
      {"contracts.yaml", "execution_summary: {type: string}",
       "execution_summary: {type: string}\n      a/b~c: {type: text}", "text}", "/properties/a~1b~0c/type"},
      {"contracts.yaml", "execution_data: {type: object}", "execution_data: {typ: object}",
       "object}\n      error", "this keyword is not supported"},
      {"contracts.yaml", "needs: execution_brief", "needs: brief", "brief\n\nExecution",
       "the schema has no field 'brief'"},
      {"contracts.yaml", "when: {route: NEEDS_EXECUTION}", "when: {route: NEEDED}", "NEEDED",
       "'route' can never be 'NEEDED'"},
      {"contracts.yaml", "when: {route: NEEDS_EXECUTION}", "when: route", "route\n",
       "'when' must be one field"},
      {"contracts.yaml", "type: object\n    required: [assistant_text]",
       "type: array\n    required: [assistant_text]", "type: array\n", "must describe an object"},
      {"contracts.yaml", "OrganizationResult:\n  schema:", "OrganizationResult:\n  shema:", "shema",
       "unknown key 'shema'"},
      // The prompt texts.
      {"prompts.yaml", "  {backstory}\n", "  {history}\n", "{history}",
       "unknown placeholder {history}; 'agent' may have {role} {goal} {backstory}"},
      {"prompts.yaml", "  {errors}\n", "", "|              # {errors}",
       "'repair' must have the placeholder {errors}"},
      {"prompts.yaml", "closing: |", "clsing: |", "clsing", "unknown key 'clsing'"},
      // Flows: their values.
      {kTwo, "model_calls: 20", "model_calls: -1", "-1",
       "'model_calls' must be a whole number from 0 to 10000"},
      {kTwo, "  tokens: 600000", "  token: 600000",
       "token:", "unknown key 'token'; known here: model_calls, tokens, seconds"},
      {kTwo, "task: do_work", "task: do_wrk", "do_wrk", "tasks.yaml has no task 'do_wrk'"},
      {kTwo, "    task: do_work\n", "", "worker:", "'task' is missing"},
      {kTwo, "contract: WorkerResult", "contract: WorkResult", "WorkResult",
       "contracts.yaml has no contract 'WorkResult'"},
      {kTwo, "prose: true ", "prose: yes ", "yes", "'prose' must be true or false"},
      {kTwo, "prose: true ", "max_repairs: 6 ", "6 ", "'max_repairs' must be a whole number from 0 to 5"},
      {kTwo, "prose: true ", "model: gpt-0 ", "gpt-0", "no provider has a model 'gpt-0'"},
      {kTwo, "tools: [project_cli]", "tools: [project_cli]\n    methods: [calendar.creat]", "calendar.creat",
       "there is no method 'calendar.creat'; the methods are calendar.create, calendar.read"},
      {kTwo, "tools: [project_cli]", "tools: [project_clii]", "project_clii",
       "there is no tool 'project_clii'; the tools are project_cli"},
      {kTwo, "prose: true ", "context: all ", "all        #", "'context' must be one of thread, input, none"},
      {kTwo, "prose: true ", "kind: cache ", "cache", "'kind' must be one of normal, memory"},
      {kTwo, "prose: true ", "listens: router ", "listens", "unknown key 'listens'"},
      {kTwo, "name: router_worker", "name: Router-Worker", "Router-Worker",
       "a flow is called 'Router-Worker'"},
      {kChat, "name: chat", "name: router_worker", "router_worker", "", kTwo},
      {kChat, "  chat:", "  input:", "input:", "a stage cannot be called 'input'"},
      {kChat, "  chat:", "  Chat:", "Chat:", "a stage is called 'Chat'"},
      {kChat, "answer: true ", "answer: {text: text} ", "text} ", "stage 'chat' has no contract"},
      {kChat, "answer: true ", "answer: {status: text} ", "text} ", "a status needs a field with an 'enum'"},
      {kChat, "answer: true ", "answer: yes ", "yes",
       "'answer' must be a map such as {text: FIELD}, or true"},
      {kChat, "answer: true ", "answer: {} ", "{} ", "'answer' must be a map such as {text: FIELD}, or true"},
      {kTwo, "      text: answer\n", "", "status: status", "'answer' must have 'text'"},
      {kTwo, "client_tools: true ", "client_tools: 1 ", "1 ", "'client_tools' must be true or false"},
      {kTwo, "contract: RouterResult\n", "contract: RouterResult\n    client_tools: true\n", "true\n  worker",
       "'client_tools' is for a stage that acts or answers"},
      {kThree, "context: input ", "client_tools: true\n    context: input ", "true\n    context",
       "'client_tools' is for a stage that sees the conversation"},
      {kChat, "answer: true ", "answer: true\n    prose: true", "true      # The",
       "a stage without a contract always writes prose"},
      // Flows: the order of the stages.
      {kThree, "    start: true\n", "", "intent:\n", "no stage has 'start: true'"},
      {kThree, "listen: execution", "start: true", "true\n    task: report",
       "'intent' is already the start stage"},
      {kThree, "    listen: execution\n", "", "organization:\n", "stage 'organization' is never reached"},
      {kThree, "listen: intent.NEEDS_EXECUTION", "listen: intnt.NEEDS_EXECUTION", "intnt",
       "there is no stage 'intnt'"},
      {kThree, "listen: intent.NEEDS_EXECUTION", "listen: intent.NEED", "intent.NEED",
       "stage 'intent' has no label 'NEED'; it has DIRECT_EXECUTION, NEEDS_EXECUTION"},
      {kThree, "listen: intent.NEEDS_EXECUTION", "listen: intent", "intent\n    task: execute",
       "'intent.DIRECT_EXECUTION' ends the run with its answer"},
      {kThree, "listen: execution", "listen: execution.SUCCESS", "execution.SUCCESS",
       "stage 'execution' is not a router"},
      {kThree, "listen: execution", "listen: [execution, intent.NEEDS_EXECUTION]", "intent.NEEDS_EXECUTION]",
       "'intent.NEEDS_EXECUTION' already has a listener in line 18"},
      {kThree, "listen: intent.NEEDS_EXECUTION", "listen: [intent.NEEDS_EXECUTION, organization]",
       "organization]", "the stages form a cycle: execution → organization → execution"},
      {kThree, "listen: intent.NEEDS_EXECUTION", "listen: [intent.NEEDS_EXECUTION, execution]", "execution]",
       "the stages form a cycle: execution → execution"},
      {kThree, "listen: execution", "listen: []", "[]", "'listen' must name at least one stage"},
      {kThree, "    answer: {text: assistant_text, on: DIRECT_EXECUTION}\n", "", "route\n",
       "'intent.DIRECT_EXECUTION' leads nowhere"},
      {kThree, "    router: route\n", "    router: rout\n", "rout\n",
       "contract IntentResult has no field 'rout'"},
      {kThree, "    router: route\n", "    router: intent_summary\n", "intent_summary",
       "needs an 'enum' of texts"},
      {kThree, "contract: IntentResult", "contract: RouterResult", "route\n",
       "contract RouterResult must require 'route'"},
      {kThree, "    contract: IntentResult\n", "", "route\n", "a router needs a contract"},
      {kThree, "router: route\n", "router: route\n    prose: true\n", "true\n    answer",
       "a router's output cannot be prose"},
      {kThree, "context: input ", "prose: true ", "true     #", "'prose' is for a stage that answers"},
      {"contracts.yaml", "[DIRECT_EXECUTION, NEEDS_EXECUTION]}", "[DIRECT_EXECUTION, NEEDS_EXECUTION, 3]}",
       "route\n", "needs an 'enum' of texts that are not empty", kThree},
      {"contracts.yaml", "[DIRECT_EXECUTION, NEEDS_EXECUTION]}", "[DIRECT_EXECUTION, NEEDS_EXECUTION, \"\"]}",
       "route\n", "needs an 'enum' of texts that are not empty", kThree},
      {"contracts.yaml", "[DIRECT_EXECUTION, NEEDS_EXECUTION]}", "[DIRECT_EXECUTION, NEEDS_EXECUTION, null]}",
       "route\n", "needs an 'enum' of texts that are not empty", kThree},
      {kTwo, "    listen: router\n", "    start: false\n", "worker:", "stage 'worker' is never reached"},
      // Flows: answers.
      {kThree, "on: DIRECT_EXECUTION", "on: DIRECT", "DIRECT}", "stage 'intent' has no label 'DIRECT'"},
      {kThree, "text: assistant_text, on", "text: text, on", "text, on",
       "contract IntentResult of stage 'intent' has no field 'text'"},
      {kThree, "text: assistant_text, on", "text: execution_brief, on", "execution_brief",
       "must require 'execution_brief'"},
      {"contracts.yaml", "answer: {type: string, minLength: 1}", "answer: {type: [string, \"null\"]}",
       "answer\n      status", "must require 'answer' and not allow it to be null", kTwo},
      {"contracts.yaml", "answer: {type: string, minLength: 1}", "answer: {type: string, nullable: true}",
       "answer\n      status", "must require 'answer' and not allow it to be null", kTwo},
      {"contracts.yaml", "answer: {type: string, minLength: 1}", "answer: {type: [string, integer]}",
       "answer\n      status", "field 'answer' of contract WorkerResult must have the type string", kTwo},
      {"contracts.yaml", "answer: {type: string, minLength: 1}", "answer: {type: object}",
       "answer\n      status", "must have the type string", kTwo},
      {"contracts.yaml", "answer: {type: string, minLength: 1}", "answer: {minLength: 1}",
       "answer\n      status", "must have the type string", kTwo},
      {"contracts.yaml", "assistant_text: {type: [string, \"null\"]}",
       "assistant_text: {type: [string, \"null\", boolean]}", "assistant_text, on",
       "must have the type string", kThree},
      {kThree, "text: assistant_text, on", "on", "{on", "'answer' must have 'text'"},
      {kThree, "status: execution.status", "status: exec.status", "exec.status", "there is no stage 'exec'"},
      {kThree, "error: execution.error_message", "error: execution.error", "execution.error",
       "contract ExecutionResult of stage 'execution' has no field 'error'"},
      {kThree, "status: execution.status", "status: execution.report_brief", "execution.report_brief",
       "a status needs a field with an 'enum' of SUCCESS, PARTIAL, FAILED"},
      {kThree, "on: DIRECT_EXECUTION", "on: DIRECT_EXECUTION, error: execution.error_message",
       "execution.error_message}", "stage 'execution' does not come before 'intent' on every path"},
      {kTwo, "      text: answer", "      txt: answer", "txt", "unknown key 'txt'"},
      {kTwo, "text: answer\n", "text: answer\n      on: SUCCESS\n", "SUCCESS",
       "stage 'worker' is not a router"},
  };
  return table;
}

TEST(Loader, FLOW_1_EachMistakeGivesOneMessageWithItsPlace) {
  for (auto const& mistake : mistakes()) {
    SCOPED_TRACE(std::string{mistake.file} + ": " + mistake.from + " -> " + mistake.to);
    auto files = shipped_files();
    replace_once(files.texts.at(mistake.file), mistake.from, mistake.to);
    std::string const told = *mistake.at_file == '\0' ? mistake.file : mistake.at_file;

    EXPECT_THAT(problems_in(files),
                ElementsAre(AllOf(StartsWith(place_of(files, told, mistake.at)), HasSubstr(mistake.what))));
  }
  EXPECT_GE(mistakes().size(), 60u);
}

TEST(Loader, FLOW_1_SeveralMistakesAreToldAtOnceInTheOrderOfTheFiles) {
  auto files = shipped_files();
  replace_once(files.texts.at("agents.yaml"), "role: Helpful assistant", "role: \"\"");
  replace_once(files.texts.at("tasks.yaml"), "agent: worker", "agent: wroker");
  replace_once(files.texts.at("tasks.yaml"), "{intent.execution_brief}", "{intent.brief}");
  replace_once(files.texts.at("contracts.yaml"), "execution_summary: {type: string}",
               "execution_summary: {type: text}");
  replace_once(files.texts.at(kThree), "listen: execution", "listen: exec");
  replace_once(files.texts.at(kTwo), "prose: true ", "prose: yes ");

  EXPECT_THAT(
      problems_in(files),
      ElementsAre(StartsWith("conf/agents.yaml:"), StartsWith(place_of(files, "tasks.yaml", "wroker")),
                  StartsWith(place_of(files, "tasks.yaml", "{intent.brief}")),
                  StartsWith("conf/contracts.yaml:"), HasSubstr("no stage 'exec'"), HasSubstr("'prose'")));
}

}  // namespace
}  // namespace runnel::flow
