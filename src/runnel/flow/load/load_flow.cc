#include "runnel/flow/load/load_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "runnel/flow/load/load_stage.h"

namespace runnel::flow {
namespace {

constexpr base::NumberRange kModelCalls{0, 10'000};
constexpr base::NumberRange kTokens{0, 1'000'000'000};
constexpr base::NumberRange kSeconds{0, std::int64_t{7} * 24 * 3600};

Limits load_limits(ConfFile& file, YAML::Node const& node) {
  base::YamlFields const fields{node, {"model_calls", "tokens", "seconds"}, file.problems()};
  Limits limits;
  file.number(fields, "model_calls", kModelCalls, limits.model_calls);
  file.number(fields, "tokens", kTokens, limits.tokens);
  file.number(fields, "seconds", kSeconds, limits.seconds);
  return limits;
}

}  // namespace

bool LoadedStage::has_field(std::string_view field) const {
  if (fields_unclear) return true;
  return contract == nullptr ? field == "text" : contract->contract->has_field(field);
}

std::vector<std::string> LoadedStage::labels() const {
  if (labels_unclear) return {};
  return router ? contract->contract->choices(router->name) : std::vector<std::string>{""};
}

LoadedStage const* LoadedFlow::find(std::string_view stage) const {
  auto const it =
      std::find_if(stages.begin(), stages.end(), [&](LoadedStage const& s) { return s.name() == stage; });
  return it == stages.end() ? nullptr : &*it;
}

std::string LoadedFlow::stage_names() const {
  std::vector<std::string> names;
  for (auto const& stage : stages)
    names.push_back(stage.name());
  return fmt::format("{}", fmt::join(names, ", "));
}

namespace {

bool may_call(std::string const& flow, std::string const& method, Known const& known) {
  auto const limited = known.limited_methods.find(method);
  if (limited == known.limited_methods.end()) return true;
  return std::find(limited->second.begin(), limited->second.end(), flow) != limited->second.end();
}

// A stage that names no methods may call all that its flow may call.
void limit_methods(LoadedStage& loaded, LoadedFlow const& flow, Known const& known) {
  auto& methods = loaded.stage.methods;
  if (loaded.stage.tools.empty() || flow.name_unclear || known.limited_methods.empty()) return;
  for (auto const& method : methods) {
    if (may_call(flow.name, method, known)) continue;
    flow.file->problems().add(loaded.mark,
                              fmt::format("the module of {} allows it only in the flows {}", method,
                                          fmt::join(known.limited_methods.find(method)->second, ", ")));
  }
  if (!methods.empty()) return;
  std::copy_if(known.methods.begin(), known.methods.end(), std::back_inserter(methods),
               [&](std::string const& method) { return may_call(flow.name, method, known); });
  // An empty list would mean all.
  if (methods.empty())
    flow.file->problems().add(loaded.mark,
                              "the stage has tools, but its flow may call none of their methods");
}

}  // namespace

LoadedFlow load_flow(ConfFile& file, FlowParts const& parts, Known const& known) {
  LoadedFlow flow;
  flow.file = &file;
  if (file.map() == nullptr) return flow;
  base::YamlFields const fields{*file.map(), {"name", "description", "limits", "stages"}, file.problems()};
  if (auto const name = file.word(fields, "name", file.map()->Mark())) {
    flow.name_unclear = !check_name(*name, "a flow", file.problems());
    flow.name = name->name;
    flow.name_mark = name->mark;
  }
  if (auto const description = file.optional_word(fields, "description"))
    flow.description = description->name;
  if (auto const* limits = fields.find("limits")) flow.limits = load_limits(file, *limits);
  auto const* stages = fields.find("stages");
  flow.stages_mark = stages != nullptr ? stages->Mark() : file.map()->Mark();
  if (stages == nullptr) {
    if (fields.keys_unclear()) return flow;
    file.problems().add(flow.stages_mark, "'stages' is missing");
    return flow;
  }
  base::for_each_member(*stages, file.problems(), [&](YAML::Node const& key, YAML::Node const& value) {
    flow.stages.push_back(load_stage(file, {key.Scalar(), key.Mark()}, value, parts, known));
    limit_methods(flow.stages.back(), flow, known);
  });
  if (stages->IsMap() && flow.stages.empty())
    file.problems().add(flow.stages_mark, "a flow needs at least one stage");
  return flow;
}

}  // namespace runnel::flow
