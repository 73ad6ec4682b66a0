#include "runnel/flow/load/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "runnel/flow/load/check_stage.h"
#include "runnel/flow/load/conf_file.h"
#include "runnel/flow/load/flow_graph.h"
#include "runnel/flow/load/load_agents.h"
#include "runnel/flow/load/load_contracts.h"
#include "runnel/flow/load/load_flow.h"

namespace runnel::flow {
namespace {

std::optional<FieldPath> path_of(std::optional<LoadedPath> const& loaded) {
  return loaded ? std::optional{loaded->path} : std::nullopt;
}

Answer answer_of(LoadedAnswer const& loaded) {
  Answer answer;
  if (loaded.text) answer.text = loaded.text->name;
  if (loaded.on) answer.on = loaded.on->name;
  answer.status = path_of(loaded.status);
  answer.error = path_of(loaded.error);
  answer.suggested_actions = path_of(loaded.suggested_actions);
  answer.key_points = path_of(loaded.key_points);
  answer.result_type = path_of(loaded.result_type);
  return answer;
}

Stage stage_of(LoadedStage const& loaded) {
  auto stage = loaded.stage;
  for (auto const& listen : loaded.listens)
    stage.listens.push_back(listen.listen);
  if (loaded.router) stage.router = loaded.router->name;
  if (loaded.answer) stage.answer = answer_of(*loaded.answer);
  return stage;
}

Flow flow_of(LoadedFlow const& loaded) {
  Flow flow;
  flow.name = loaded.name;
  flow.description = loaded.description;
  flow.limits = loaded.limits;
  for (auto const& stage : loaded.stages)
    flow.stages.push_back(stage_of(stage));
  std::stable_partition(flow.stages.begin(), flow.stages.end(), [](Stage const& s) { return s.start; });
  return flow;
}

class CatalogReader {
 public:
  CatalogReader(Files const& files, Known const& known)
      : files_{files},
        known_{known},
        agents_{open("agents.yaml")},
        tasks_{open("tasks.yaml")},
        settings_{open("system_agents.yaml")},
        contracts_{open("contracts.yaml")},
        prompts_{open("prompts.yaml")} {}

  Loaded read() {
    parts_.agents = load_agents(agents_);
    parts_.tasks = load_tasks(tasks_, parts_.agents);
    parts_.settings = load_agent_settings(settings_, parts_.agents, known_);
    parts_.contracts = load_contracts(contracts_);
    auto texts = load_prompt_texts(prompts_);
    read_flows();
    check_flow_names();
    Loaded loaded;
    loaded.problems = all_problems();
    if (!loaded.problems.empty()) return loaded;
    std::vector<Flow> flows;
    for (auto const& flow : flows_)
      flows.push_back(flow_of(flow));
    loaded.catalog.emplace(std::move(flows), std::move(texts), known_.default_flow);
    return loaded;
  }

 private:
  [[nodiscard]] std::string shown(std::string_view name) const {
    return files_.folder.empty() ? fmt::format("built-in {}", name)
                                 : fmt::format("{}/{}", files_.folder, name);
  }

  ConfFile open(std::string_view name) {
    auto const text = files_.texts.find(name);
    return ConfFile{shown(name), text == files_.texts.end() ? nullptr : &text->second};
  }

  [[nodiscard]] std::set<std::string> flow_file_names() const {
    std::set<std::string> names{files_.unreadable.begin(), files_.unreadable.end()};
    for (auto const& [name, text] : files_.texts)
      names.insert(name);
    std::erase_if(names, [](std::string const& name) { return !name.starts_with("flows/"); });
    return names;
  }

  void read_flows() {
    for (auto const& name : flow_file_names()) {
      flow_files_.push_back(open(name));
      flows_.push_back(load_flow(flow_files_.back(), parts_, known_));
    }
    for (auto const& flow : flows_) {
      FlowGraph const graph{flow};
      for (auto const& stage : flow.stages) {
        check_answer(flow, graph, stage);
        check_placeholders(flow, graph, stage, {agents_, tasks_});
      }
    }
  }

  void check_flow_names() {
    std::map<std::string, LoadedFlow const*> by_name;
    bool names_unclear = false;
    for (auto const& flow : flows_) {
      names_unclear = names_unclear || flow.name_unclear;
      auto const [first, is_new] = by_name.emplace(flow.name, &flow);
      if (is_new || flow.name_unclear) continue;
      flow.file->problems().add(
          flow.name_mark,
          fmt::format("{} already has a flow '{}'", first->second->file->problems().file(), flow.name));
    }
    if (flows_.empty() && !names_unclear) {
      others_.push_back(fmt::format("{}: there is no flow in this folder", shown("flows")));
    } else if (!by_name.contains(known_.default_flow) && !names_unclear) {
      others_.push_back(fmt::format("flows.default: there is no flow '{}'; the flows are {}",
                                    known_.default_flow, flow_names(by_name)));
    }
  }

  static std::string flow_names(std::map<std::string, LoadedFlow const*> const& by_name) {
    std::vector<std::string> names;
    names.reserve(by_name.size());
    for (auto const& [name, flow] : by_name)
      names.push_back(name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  std::vector<std::string> all_problems() {
    std::vector<std::string> all;
    for (auto* file : {&agents_, &tasks_, &settings_, &contracts_, &prompts_})
      append_problems(all, *file);
    for (auto& file : flow_files_)
      append_problems(all, file);
    for (auto& line : others_)
      all.push_back(std::move(line));
    return all;
  }

  static void append_problems(std::vector<std::string>& all, ConfFile& file) {
    for (auto& line : file.problems().lines())
      all.push_back(std::move(line));
  }

  Files const& files_;
  Known const& known_;
  ConfFile agents_;
  ConfFile tasks_;
  ConfFile settings_;
  ConfFile contracts_;
  ConfFile prompts_;
  std::deque<ConfFile> flow_files_;  // Each flow points to its file.
  FlowParts parts_;
  std::vector<LoadedFlow> flows_;  // They point into parts_.
  std::vector<std::string> others_;
};

}  // namespace

Loaded load_catalog(Files const& files, Known const& known) {
  return CatalogReader{files, known}.read();
}

}  // namespace runnel::flow
