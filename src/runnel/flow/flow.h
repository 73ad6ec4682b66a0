#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/flow/output/contract.h"
#include "runnel/flow/prompt/template.h"

// Flows as data (FLOW-1): the contents of conf/. They are loaded once, checked as a whole, and never change
// after that.
namespace runnel::flow {

// An entry of agents.yaml, in CrewAI's format.
struct Agent {
  std::string name;
  Template role;
  Template goal;
  Template backstory;
};

// An entry of tasks.yaml, in CrewAI's format.
struct Task {
  std::string name;
  Template description;
  Template expected_output;
  std::string agent;
};

// What an agent is told of a skill (TOOL-11). It can read more with skills.read.
struct SkillCard {
  std::string name;
  std::string description;  // One line.
};

// An entry of system_agents.yaml: how an agent is run. Values that the file does not set have these defaults.
// Exception: if the file has the agent `router`, its context limits are the defaults for all agents (RUN-9).
struct AgentSettings {
  std::string model;                      // Empty means the default model. A run's own model has priority.
  std::size_t context_messages = 40;      // How many of the thread's newest messages it sees.
  std::int64_t context_tokens = 32'000;   // The limit for the tokens of these messages, by estimate.
  std::vector<SkillCard> enabled_skills;  // The skills whose documentation it sees.
  std::int64_t max_iters = 7;             // Model calls with tools, before the closing call without tools.
};

// What one run may use; 0 means no limit. Each limit ends the run with its own error code.
struct Limits {
  std::int64_t model_calls = 0;
  std::int64_t tokens = 0;
  std::int64_t seconds = 0;
};

// What a stage waits for: the end of `stage`, with `label` if that stage is a router.
struct Listen {
  std::string stage;
  std::string label;  // Empty means any label.
};

// A field of this stage's result or of an earlier stage's result.
struct FieldPath {
  std::string stage;  // Empty means this stage.
  std::string field;
};

// How a stage's output becomes the run's answer.
struct Answer {
  std::string text;  // The field with the text. Without a contract it is empty: the whole output is the text.
  std::string on;    // The stage answers only with this label. If empty, it always answers.
  // The fields for the rest of TEXT_MESSAGE_END. Without a field, the event has its default value.
  std::optional<FieldPath> status;  // SUCCESS, PARTIAL or FAILED.
  std::optional<FieldPath> error;
  std::optional<FieldPath> suggested_actions;
  std::optional<FieldPath> key_points;
  std::optional<FieldPath> result_type;
};

enum class StageKind {
  normal,
  memory,  // Its output is shown, but is not part of the context of later runs (RUN-9).
};

// How much of the conversation a stage sees.
enum class ContextScope {
  thread,  // The thread's messages; the last one is the input.
  input,   // Only the input.
  none,    // Only its task.
};

struct Stage {
  std::string name;
  bool start = false;
  std::vector<Listen> listens;  // One of them is enough.
  Task task;
  Agent agent;
  AgentSettings settings;
  std::shared_ptr<Contract const> contract;  // Null if the output is prose.
  bool prose_allowed = false;  // For a stage with a contract: plain words are accepted as the answer too.
  std::string router;          // The field whose value is the stage's label. Empty if it is not a router.
  std::optional<Answer> answer;
  std::vector<std::string> tools;
  std::vector<std::string> methods;  // Those that it may call with its tools. Empty means all.
  bool client_tools = false;         // Whether it may also call tools that the run's client brings (AGUI-6).
  StageKind kind = StageKind::normal;
  ContextScope context = ContextScope::thread;
  std::string model;             // Empty means the agent's model.
  std::int64_t max_repairs = 2;  // How often an output is sent back (FLOW-4).
};

// Stages and their order. There are no cycles, at most one stage follows a stage that has finished with a
// given label, and every path ends in a stage that answers.
struct Flow {
  std::string name;
  std::string description;
  Limits limits;
  std::vector<Stage> stages;  // At least one; the first is the start stage.

  [[nodiscard]] Stage const& first() const { return stages.front(); }
  // Whether any of its stages may call tools of the run's client.
  [[nodiscard]] bool takes_client_tools() const;
  // Null if there is no stage of that name.
  [[nodiscard]] Stage const* find(std::string_view stage) const;
  // The stage that begins when `stage` has finished with `label`. Null if there is none: then the run ends
  // with the answer of `stage`.
  [[nodiscard]] Stage const* next(std::string_view stage, std::string_view label) const;
};

// prompts.yaml: the texts around agents, tasks and data, with the placeholders that each may use.
struct PromptTexts {
  Template agent;     // {role} {goal} {backstory}
  Template task;      // {description} {expected_output}
  Template contract;  // {schema} {rules}
  Template repair;    // {errors}
  Template again;     // {errors}. Used instead of `repair` if a stage has no contract.
  Template closing;   // No placeholders. Says that no tool calls are left and asks for the answer.
  Template memories;  // {memories}
  Template skills;    // {skills}
};

// The flows that a run may choose from, by name, and the prompt texts that they share.
class Catalog {
 public:
  Catalog(std::vector<Flow> flows, PromptTexts texts, std::string default_name);

  [[nodiscard]] Flow const* find(std::string_view name) const;  // Null if there is none.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::string const& default_name() const { return default_name_; }
  [[nodiscard]] PromptTexts const& texts() const { return texts_; }

 private:
  std::vector<Flow> flows_;
  PromptTexts texts_;
  std::string default_name_;
};

}  // namespace runnel::flow
