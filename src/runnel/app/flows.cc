#include "runnel/app/flows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "flow_files.inc"
#include "runnel/app/modules.h"
#include "runnel/app/tools/tools.h"

namespace runnel::app {
namespace {

flow::Known known_to_flows(Settings const& settings, model::Registry const* models,
                           tools::CustomModules const& custom, base::Skills const* skills) {
  flow::Known known;
  known.model = [models](std::string const& name) {
    return models == nullptr || models->find(name) != nullptr;
  };
  if (models != nullptr) known.models = models->names();
  known.tools = tool_names();
  known.methods = Modules{settings}.method_names();
  for (auto const& callee : custom.methods()) {
    known.methods.push_back(callee.full_name());
    if (!callee.method->flows.empty())
      known.limited_methods.emplace(callee.full_name(), callee.method->flows);
  }
  known.any_skill = skills == nullptr;
  if (skills != nullptr) {
    for (auto const& [name, skill] : *skills)
      known.skills.emplace(name, skill.description);
  }
  known.default_flow = settings.default_flow;
  return known;
}

flow::Loaded load_or_tell(Settings const& settings, model::Registry const* models,
                          tools::CustomModules const& custom, base::Skills const* skills) {
  auto const files = settings.flows_dir.empty() ? Result<flow::Files>{built_in_flows()}
                                                : flow::read_files(settings.flows_dir);
  if (files) return flow::load_catalog(*files, known_to_flows(settings, models, custom, skills));
  flow::Loaded failed;
  failed.problems.push_back("flows.dir: " + files.error().detail);
  return failed;
}

}  // namespace

flow::Files built_in_flows() {
  flow::Files files;
  for (auto const& [name, text] : kFlowFiles)
    files.texts.emplace(name, text);
  return files;
}

Result<flow::Catalog> load_flows(Settings const& settings, model::Registry const& models,
                                 tools::CustomModules const& custom, base::Skills const& skills) {
  auto loaded = load_or_tell(settings, &models, custom, &skills);
  if (loaded.catalog) return std::move(*loaded.catalog);
  return Error{Errc::invalid, fmt::format("{}", fmt::join(loaded.problems, "\n"))};
}

flow::Loaded check_flows(Settings const& settings, model::Registry const* models,
                         tools::CustomModules const& custom, base::Skills const* skills) {
  return load_or_tell(settings, models, custom, skills);
}

}  // namespace runnel::app
