#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/flow/contract.h"
#include "runnel/flow/template.h"

// Flows as data (FLOW-1): what stands in conf/. Loaded once, checked whole, then never changed.
namespace runnel::flow {

// agents.yaml, in CrewAI's form.
struct Agent {
  std::string name;
  Template role;
  Template goal;
  Template backstory;
};

// tasks.yaml, in CrewAI's form.
struct Task {
  std::string name;
  Template description;
  Template expected_output;
  std::string agent;
};

// system_agents.yaml: how an agent is run. What is not set there has these defaults; but where the file has
// the agent `router`, context is as that one's (RUN-9).
struct AgentSettings {
  std::string model;                        // Empty: the default. A run that names a model has that.
  std::size_t context_messages = 40;        // The newest of the thread,
  std::int64_t context_tokens = 32'000;     // and no more than these, by estimate.
  std::vector<std::string> enabled_skills;  // Which documentation it sees.
  std::int64_t max_iters = 7;               // Model calls with tools, before the closing one without.
};

// How much one run may take; 0: no limit. Each ends the run with a code of its own.
struct Limits {
  std::int64_t model_calls = 0;
  std::int64_t tokens = 0;
  std::int64_t seconds = 0;
};

// What a stage waits for: that `stage` has finished, with `label` where that stage is a router.
struct Listen {
  std::string stage;
  std::string label;  // Empty: any.
};

// A field of this stage's result, or of an earlier stage's.
struct FieldPath {
  std::string stage;  // Empty: its own.
  std::string field;
};

// The stage's text is the run's answer.
struct Answer {
  std::string text;  // The field; empty: the whole output, where the stage has no contract.
  std::string on;    // Only where the stage's label is this one; empty: always.
  // Where the rest of TEXT_MESSAGE_END comes from; none: its default.
  std::optional<FieldPath> status;  // SUCCESS, PARTIAL or FAILED.
  std::optional<FieldPath> error;
  std::optional<FieldPath> suggested_actions;
  std::optional<FieldPath> key_points;
  std::optional<FieldPath> result_type;
};

enum class StageKind {
  normal,
  memory,  // What it produces is shown, but is no context of later runs (RUN-9).
};

// What of the conversation a stage sees.
enum class ContextScope {
  thread,  // The thread's messages, and the input as the last one.
  input,   // The input alone.
  none,    // Only its task.
};

struct Stage {
  std::string name;
  bool start = false;
  std::vector<Listen> listens;  // Any one of them.
  Task task;
  Agent agent;
  AgentSettings settings;
  std::shared_ptr<Contract const> contract;  // Null: prose.
  bool prose_allowed = false;                // With a contract: plain words are the answer all the same.
  std::string router;                        // The field whose value is the stage's label; empty: no router.
  std::optional<Answer> answer;
  std::vector<std::string> tools;
  StageKind kind = StageKind::normal;
  ContextScope context = ContextScope::thread;
  std::string model;             // Empty: the agent's.
  std::int64_t max_repairs = 2;  // Outputs that are sent back (FLOW-4).
};

// Stages, and which follows which. Without cycles; from each stage at most one follows, and every way ends in
// a stage that answers.
struct Flow {
  std::string name;
  std::string description;
  Limits limits;
  std::vector<Stage> stages;  // At least one; the first is the start.

  [[nodiscard]] Stage const& first() const { return stages.front(); }
  // Null: none of that name.
  [[nodiscard]] Stage const* find(std::string_view stage) const;
  // The stage that begins when `stage` has finished with `label`; null: none, the run ends with its answer.
  [[nodiscard]] Stage const* next(std::string_view stage, std::string_view label) const;
};

// prompts.yaml: the words around agents, tasks and data. The placeholders that each may use are in the
// shipped file.
struct PromptTexts {
  Template agent;     // {role} {goal} {backstory}
  Template task;      // {description} {expected_output}
  Template contract;  // {schema} {rules}
  Template repair;    // {errors}
  Template again;     // {errors}: instead of `repair`, where a stage has no contract.
  Template closing;   // None: tools are used up, answer now.
  Template memories;  // {memories}
  Template skills;    // {skills}
};

// The flows a run may choose from, by name, and the words for all of them.
class Catalog {
 public:
  Catalog(std::vector<Flow> flows, PromptTexts texts, std::string default_name);

  [[nodiscard]] Flow const* find(std::string_view name) const;  // Null: none of that name.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::string const& default_name() const { return default_name_; }
  [[nodiscard]] PromptTexts const& texts() const { return texts_; }

 private:
  std::vector<Flow> flows_;
  PromptTexts texts_;
  std::string default_name_;
};

}  // namespace runnel::flow
