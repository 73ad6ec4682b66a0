#include "runnel/flow/load/check_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/flow/prompt/placeholders.h"
#include "runnel/flow/prompt/prompt.h"

namespace runnel::flow {
namespace {

std::string no_such_field(LoadedStage const& stage, std::string_view field) {
  if (stage.contract == nullptr) {
    return fmt::format("stage '{}' has no contract, so its only field is 'text', not '{}'", stage.name(),
                       field);
  }
  return fmt::format("contract {} of stage '{}' has no field '{}'", stage.contract->contract->name(),
                     stage.name(), field);
}

class AnswerCheck {
 public:
  AnswerCheck(LoadedFlow const& flow, FlowGraph const& graph, LoadedStage const& stage)
      : flow_{flow}, graph_{graph}, stage_{stage}, answer_{*stage.answer} {}

  void check() {
    check_text();
    check_on();
    for (auto const* path : {&answer_.status, &answer_.error, &answer_.suggested_actions, &answer_.key_points,
                             &answer_.result_type}) {
      if (*path) check_path(**path);
    }
    if (answer_.status) check_status(*answer_.status);
  }

 private:
  base::YamlProblems& problems() { return flow_.file->problems(); }

  void check_text() {
    if (stage_.fields_unclear || stage_.exit_unclear) return;
    if (stage_.contract == nullptr) {
      if (answer_.text) {
        problems().add(
            answer_.text->mark,
            fmt::format("stage '{}' has no contract, so its whole output is the answer: remove 'text'",
                        stage_.name()));
      }
      return;
    }
    if (answer_.text) {
      check_text_field(*answer_.text, *stage_.contract->contract);
    } else {
      problems().add(answer_.mark,
                     fmt::format("'answer' must have 'text', the field of contract {} that is the answer",
                                 stage_.contract->contract->name()));
    }
  }

  // When the stage answers, the field must be a text in every output that satisfies the contract.
  void check_text_field(PlacedName const& field, Contract const& contract) {
    if (!contract.has_field(field.name)) {
      problems().add(field.mark, no_such_field(stage_, field.name));
    } else if (!contract.is_text(field.name, Contract::Null::allowed)) {
      problems().add(field.mark,
                     fmt::format("field '{}' of contract {} must have the type string, because it "
                                 "is the answer",
                                 field.name, contract.name()));
    } else if (!has_rule(field.name) && !(contract.requires_field(field.name) &&
                                          contract.is_text(field.name, Contract::Null::refused))) {
      problems().add(field.mark, fmt::format("contract {} must require '{}' and not allow it to be null, "
                                             "or have a rule that needs it for this answer",
                                             contract.name(), field.name));
    }
  }

  [[nodiscard]] bool has_rule(std::string const& field) const {
    if (stage_.labels_unclear || has_unknown_label()) return true;
    auto const& rules = stage_.contract->rules;
    return std::any_of(rules.begin(), rules.end(), [&](Contract::Rule const& rule) {
      return stage_.router && answer_.on && rule.field == field && rule.when == stage_.router->name &&
             rule.is == answer_.on->name;
    });
  }

  [[nodiscard]] bool has_unknown_label() const {
    auto const labels = stage_.labels();
    return answer_.on && std::find(labels.begin(), labels.end(), answer_.on->name) == labels.end();
  }

  void check_on() {
    if (stage_.labels_unclear || !has_unknown_label()) return;
    if (!stage_.router) {
      problems().add(
          answer_.on->mark,
          fmt::format("stage '{}' is not a router, so it has no labels: remove 'on'", stage_.name()));
    } else {
      problems().add(answer_.on->mark, fmt::format("stage '{}' has no label '{}'; it has {}", stage_.name(),
                                                   answer_.on->name, fmt::join(stage_.labels(), ", ")));
    }
  }

  // Null if the path names no usable stage; then a problem has been added.
  LoadedStage const* stage_of(LoadedPath const& path) {
    if (path.path.stage.empty()) return &stage_;
    auto const* earlier = flow_.find(path.path.stage);
    if (earlier == nullptr) {
      problems().add(path.mark, fmt::format("there is no stage '{}'; the stages are {}", path.path.stage,
                                            flow_.stage_names()));
    } else if (!graph_.lies_before(stage_, path.path.stage)) {
      problems().add(path.mark, fmt::format("stage '{}' does not come before '{}' on every path",
                                            path.path.stage, stage_.name()));
      earlier = nullptr;
    }
    return earlier;
  }

  void check_path(LoadedPath const& path) {
    auto const* stage = stage_of(path);
    if (stage != nullptr && !stage->has_field(path.path.field))
      problems().add(path.mark, no_such_field(*stage, path.path.field));
  }

  void check_status(LoadedPath const& path) {
    static constexpr std::array<std::string_view, 3> kStatuses{"SUCCESS", "PARTIAL", "FAILED"};
    auto const* stage = path.path.stage.empty() ? &stage_ : flow_.find(path.path.stage);
    if (stage == nullptr || stage->fields_unclear) return;
    auto const choices = stage->contract == nullptr ? std::vector<std::string>{}
                                                    : stage->contract->contract->choices(path.path.field);
    bool const fits =
        !choices.empty() && std::all_of(choices.begin(), choices.end(), [](std::string const& choice) {
          return std::find(kStatuses.begin(), kStatuses.end(), choice) != kStatuses.end();
        });
    if (fits) return;
    problems().add_once(
        path.mark, fmt::format("a status needs a field with an 'enum' of {}", fmt::join(kStatuses, ", ")));
  }

  LoadedFlow const& flow_;
  FlowGraph const& graph_;
  LoadedStage const& stage_;
  LoadedAnswer const& answer_;
};

class PlaceholderCheck {
 public:
  PlaceholderCheck(LoadedFlow const& flow, FlowGraph const& graph, LoadedStage const& stage)
      : flow_{flow}, graph_{graph}, stage_{stage} {}

  // A problem of a text that several stages use is reported once.
  void check_task(std::vector<PlacedName> const& placeholders, base::YamlProblems& problems) const {
    for (auto const& placeholder : placeholders) {
      auto const what = problem_in_task(placeholder.name);
      if (!what.empty()) problems.add_once(placeholder.mark, with_place(placeholder, what));
    }
  }

  // The agent's texts become part of a system message, so they must not contain what users or models wrote.
  void check_agent(std::vector<PlacedName> const& placeholders, base::YamlProblems& problems) const {
    for (auto const& placeholder : placeholders) {
      if (!is_data(placeholder.name)) continue;
      auto const what =
          is_run_placeholder(placeholder.name) || flow_.find(stage_part(placeholder.name)) != nullptr
              ? "what users and stages wrote belongs in a task, not in an agent"
              : problem_in_task(placeholder.name);
      problems.add_once(placeholder.mark, with_place(placeholder, what));
    }
  }

 private:
  static std::string_view stage_part(std::string_view name) { return name.substr(0, name.find('.')); }

  // Empty if there is no problem.
  [[nodiscard]] std::string problem_in_task(std::string_view name) const {
    if (is_run_placeholder(name)) return {};
    auto const stage_name = stage_part(name);
    auto const* stage = flow_.find(stage_name);
    if (stage == nullptr) return "unknown placeholder; the placeholders are " + known();
    if (!graph_.lies_before(stage_, stage_name)) {
      return fmt::format("stage '{}' does not come before '{}' on every path", stage_name, stage_.name());
    }
    if (stage_name.size() == name.size()) return {};
    auto const field = name.substr(stage_name.size() + 1);
    return stage->has_field(field) ? std::string{} : no_such_field(*stage, field);
  }

  [[nodiscard]] std::string known() const {
    auto names = run_placeholders();
    for (auto const& stage : graph_.stages_before(stage_))
      names += fmt::format(" {{{0}}} {{{0}.FIELD}}", stage);
    return names;
  }

  [[nodiscard]] std::string with_place(PlacedName const& placeholder, std::string_view what) const {
    return fmt::format("{{{}}} in stage '{}' of flow '{}': {}", placeholder.name, stage_.name(), flow_.name,
                       what);
  }

  LoadedFlow const& flow_;
  FlowGraph const& graph_;
  LoadedStage const& stage_;
};

}  // namespace

void check_answer(LoadedFlow const& flow, FlowGraph const& graph, LoadedStage const& stage) {
  if (stage.answer) AnswerCheck{flow, graph, stage}.check();
}

void check_placeholders(LoadedFlow const& flow, FlowGraph const& graph, LoadedStage const& stage,
                        TextFiles const& files) {
  PlaceholderCheck const check{flow, graph, stage};
  if (stage.task != nullptr) check.check_task(stage.task->placeholders, files.tasks.problems());
  if (stage.agent != nullptr) check.check_agent(stage.agent->placeholders, files.agents.problems());
}

}  // namespace runnel::flow
