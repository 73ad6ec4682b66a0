#include "runnel/flow/load/load_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runnel/flow/prompt/prompt.h"

namespace runnel::flow {
namespace {

constexpr base::NumberRange kRepairs{0, 5};

// Splits "stage" or "stage.rest".
std::pair<std::string, std::string> split_at_dot(std::string const& text) {
  auto const dot = text.find('.');
  if (dot == std::string::npos) return {text, ""};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

class StageReader {
 public:
  StageReader(ConfFile& file, FlowParts const& parts, Known const& known)
      : file_{file}, parts_{parts}, known_{known} {}

  LoadedStage read(PlacedName const& name, YAML::Node const& node) {
    out_.stage.name = name.name;
    out_.mark = name.mark;
    check_stage_name(name);
    base::YamlFields const fields{
        node,
        {"start", "listen", "task", "contract", "router", "answer", "tools", "methods", "kind", "context",
         "model", "prose", "max_repairs", "max_iters", "client_tools"},
        file_.problems()};
    // A key that is unknown or occurs twice may be a misspelling of a missing one.
    bool const keys_unclear = fields.keys_unclear();
    out_.entry_unclear = keys_unclear && !fields.has("start") && !fields.has("listen");
    out_.labels_unclear = keys_unclear && !fields.has("router");
    out_.exit_unclear = keys_unclear && !fields.has("answer");
    out_.fields_unclear = keys_unclear && !fields.has("contract");
    if (!node.IsMap()) return std::move(out_);
    read_task(fields);
    read_contract(fields);
    read_way_in(fields);
    read_router(fields);
    if (auto const* answer = fields.find("answer")) read_answer(*answer);
    read_options(fields);
    return std::move(out_);
  }

 private:
  base::YamlProblems& problems() { return file_.problems(); }

  void check_stage_name(PlacedName const& name) {
    check_name(name, "a stage", problems());
    if (is_run_placeholder(name.name)) {
      problems().add(
          name.mark,
          fmt::format("a stage cannot be called '{}': that is a placeholder of every task", name.name));
    }
  }

  void read_task(base::YamlFields const& fields) {
    auto const name = file_.word(fields, "task", out_.mark);
    if (!name) return;
    auto const task = parts_.tasks.find(name->name);
    if (task == parts_.tasks.end()) {
      if (!parts_.tasks.empty()) {
        problems().add(name->mark, fmt::format("tasks.yaml has no task '{}'; it has {}", name->name,
                                               names_of(parts_.tasks)));
      }
      return;
    }
    out_.task = &task->second;
    out_.stage.task = task->second.task;
    auto const agent = parts_.agents.find(out_.stage.task.agent);
    if (agent == parts_.agents.end()) return;
    out_.agent = &agent->second;
    out_.stage.agent = agent->second.agent;
    auto const settings = parts_.settings.find(agent->first);
    if (settings != parts_.settings.end()) out_.stage.settings = settings->second;
  }

  void read_contract(base::YamlFields const& fields) {
    if (!fields.has("contract")) return;
    out_.fields_unclear = true;
    auto const name = file_.optional_word(fields, "contract");
    if (!name) return;
    auto const contract = parts_.contracts.find(name->name);
    if (contract != parts_.contracts.end()) {
      out_.contract = &contract->second;
      out_.stage.contract = contract->second.contract;
      out_.fields_unclear = contract->second.contract == nullptr;
    } else if (!parts_.contracts.empty()) {
      problems().add(name->mark, fmt::format("contracts.yaml has no contract '{}'; it has {}", name->name,
                                             names_of(parts_.contracts)));
    }
  }

  void read_way_in(base::YamlFields const& fields) {
    auto const before = problems().count();
    file_.truth(fields, "start", out_.stage.start);
    if (auto const* start = fields.find("start")) out_.start_mark = start->Mark();
    if (auto const* listen = fields.find("listen")) {
      auto const words = listen->IsSequence() ? file_.words(fields, "listen") : one_word(fields, "listen");
      for (auto const& word : words) {
        auto [stage, label] = split_at_dot(word.name);
        out_.listens.push_back({{std::move(stage), std::move(label)}, word.mark});
      }
      if (listen->IsSequence() && listen->size() == 0)
        problems().add(*listen, "'listen' must name at least one stage");
      if (out_.stage.start) problems().add(*listen, "the start stage cannot listen to another one");
    }
    if (problems().count() != before) out_.entry_unclear = true;
  }

  std::vector<PlacedName> one_word(base::YamlFields const& fields, std::string_view key) {
    auto const word = file_.optional_word(fields, key);
    return word ? std::vector<PlacedName>{*word} : std::vector<PlacedName>{};
  }

  void read_router(base::YamlFields const& fields) {
    if (!fields.has("router")) return;
    auto const before = problems().count();
    out_.labels_unclear = true;
    auto const field = file_.optional_word(fields, "router");
    if (!field) return;
    out_.router = field;
    if (out_.fields_unclear) return;
    check_router(*field);
    out_.labels_unclear = problems().count() != before;
  }

  void check_router(PlacedName const& field) {
    if (out_.contract == nullptr) {
      problems().add(field.mark, "a router needs a contract with the field that holds its labels");
      out_.fields_unclear = true;
      return;
    }
    auto const& contract = *out_.contract->contract;
    if (!contract.has_field(field.name)) {
      problems().add(field.mark, fmt::format("contract {} has no field '{}'", contract.name(), field.name));
    } else if (contract.choices(field.name).empty()) {
      problems().add(field.mark,
                     fmt::format("field '{}' of contract {} needs an 'enum' of texts that are not "
                                 "empty: they are the router's labels",
                                 field.name, contract.name()));
    } else if (!contract.requires_field(field.name)) {
      problems().add(field.mark, fmt::format("contract {} must require '{}', because it decides what follows",
                                             contract.name(), field.name));
    }
  }

  void read_answer(YAML::Node const& node) {
    auto const before = problems().count();
    LoadedAnswer answer;
    answer.mark = node.Mark();
    if (node.IsScalar() && node.Scalar() == "true") {
      out_.answer = answer;
      return;
    }
    if (!node.IsMap() || node.size() == 0) {
      problems().add(node, "'answer' must be a map such as {text: FIELD}, or true if there is no contract");
      out_.exit_unclear = true;
      return;
    }
    base::YamlFields const fields{
        node,
        {"text", "on", "status", "error", "suggested_actions", "key_points", "result_type"},
        problems()};
    answer.text = file_.optional_word(fields, "text");
    answer.on = file_.optional_word(fields, "on");
    for (auto const& [key, field] :
         {std::pair{"status", &LoadedAnswer::status}, std::pair{"error", &LoadedAnswer::error},
          std::pair{"suggested_actions", &LoadedAnswer::suggested_actions},
          std::pair{"key_points", &LoadedAnswer::key_points},
          std::pair{"result_type", &LoadedAnswer::result_type}}) {
      answer.*field = read_path(fields, key);
    }
    out_.answer = std::move(answer);
    // An unknown key may be a misspelled `on` or `text`.
    out_.exit_unclear = problems().count() != before;
  }

  std::optional<LoadedPath> read_path(base::YamlFields const& fields, std::string_view key) {
    auto const word = file_.optional_word(fields, key);
    if (!word) return std::nullopt;
    auto [stage, field] = split_at_dot(word->name);
    if (field.empty()) return LoadedPath{{"", std::move(stage)}, word->mark};
    return LoadedPath{{std::move(stage), std::move(field)}, word->mark};
  }

  void read_options(base::YamlFields const& fields) {
    for (auto const& tool : file_.words(fields, "tools"))
      read_tool(tool);
    for (auto const& method : file_.words(fields, "methods"))
      read_method(method);
    read_choice(fields, "kind", {{"normal", StageKind::normal}, {"memory", StageKind::memory}},
                out_.stage.kind);
    read_choice(
        fields, "context",
        {{"thread", ContextScope::thread}, {"input", ContextScope::input}, {"none", ContextScope::none}},
        out_.stage.context);
    if (auto const model = file_.optional_word(fields, "model")) {
      check_model(*model, known_, problems());
      out_.stage.model = model->name;
    }
    file_.number(fields, "max_repairs", kRepairs, out_.stage.max_repairs);
    file_.number(fields, "max_iters", kIterations, out_.stage.settings.max_iters);
    file_.truth(fields, "prose", out_.stage.prose_allowed);
    if (out_.stage.prose_allowed) check_prose(*fields.find("prose"));
    file_.truth(fields, "client_tools", out_.stage.client_tools);
    if (out_.stage.client_tools) check_client_tools(*fields.find("client_tools"));
  }

  // What the client's tools return is the input of the thread's next run, which sees it in the conversation.
  void check_client_tools(YAML::Node const& node) {
    if (out_.stage.context != ContextScope::thread) {
      problems().add(
          node,
          "'client_tools' is for a stage that sees the conversation, where the results are: remove "
          "'context', or say context: thread");
    } else if (out_.stage.tools.empty() && !out_.answer && !out_.exit_unclear) {
      problems().add(node,
                     "'client_tools' is for a stage that acts or answers: one with 'tools' or 'answer'");
    }
  }

  void check_prose(YAML::Node const& prose) {
    if (out_.contract == nullptr && !out_.fields_unclear) {
      problems().add(prose,
                     "a stage without a contract always writes prose; 'prose' is for a stage that has one");
    } else if (out_.router) {
      problems().add(prose, "a router's output cannot be prose, which has no label");
    } else if (!out_.answer && !out_.exit_unclear) {
      problems().add(prose, "prose can only be used as an answer; 'prose' is for a stage that answers");
    }
  }

  void read_tool(PlacedName const& tool) {
    out_.stage.tools.push_back(tool.name);
    if (std::find(known_.tools.begin(), known_.tools.end(), tool.name) != known_.tools.end()) return;
    problems().add(tool.mark, known_.tools.empty()
                                  ? fmt::format("there is no tool '{}': this version has no tools", tool.name)
                                  : fmt::format("there is no tool '{}'; the tools are {}", tool.name,
                                                fmt::join(known_.tools, ", ")));
  }

  void read_method(PlacedName const& method) {
    out_.stage.methods.push_back(method.name);
    if (out_.stage.tools.empty())
      problems().add(method.mark, "'methods' is for a stage that has 'tools'");
    else if (std::find(known_.methods.begin(), known_.methods.end(), method.name) == known_.methods.end())
      problems().add(method.mark, fmt::format("there is no method '{}'; the methods are {}", method.name,
                                              fmt::join(known_.methods, ", ")));
  }

  template <class Enum>
  void read_choice(base::YamlFields const& fields, std::string_view key,
                   std::initializer_list<std::pair<std::string_view, Enum>> choices, Enum& value) {
    auto const word = file_.optional_word(fields, key);
    if (!word) return;
    std::vector<std::string_view> names;
    for (auto const& [name, meant] : choices) {
      names.push_back(name);
      if (word->name != name) continue;
      value = meant;
      return;
    }
    problems().add(word->mark, fmt::format("'{}' must be one of {}", key, fmt::join(names, ", ")));
  }

  ConfFile& file_;
  FlowParts const& parts_;
  Known const& known_;
  LoadedStage out_;
};

}  // namespace

LoadedStage load_stage(ConfFile& file, PlacedName const& name, YAML::Node const& node, FlowParts const& parts,
                       Known const& known) {
  return StageReader{file, parts, known}.read(name, node);
}

}  // namespace runnel::flow
