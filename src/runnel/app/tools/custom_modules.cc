#include "runnel/app/tools/custom_modules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <utility>

#include "runnel/app/modules.h"
#include "runnel/tools/custom/load_custom_modules.h"

namespace runnel::app {

Result<SharedCustomModules> load_custom(Settings const& settings) {
  if (settings.custom_modules_dir.empty()) return std::make_shared<tools::CustomModules const>();
  tools::CustomModuleFiles files;
  files.folder = settings.custom_modules_dir;
  files.taken = Modules{settings}.command_names();
  files.closed = {settings.data_dir};
  for (auto const& key : settings.auth_keys)
    files.closed.push_back(key.substr(key.find('=') + 1));  // KID=FILE or FILE.
  for (auto const& provider : settings.providers) {
    if (!provider.api_key_file.empty()) files.closed.push_back(provider.api_key_file);
  }
  files.environment = environ;
  auto loaded = tools::load_custom_modules(files);
  if (loaded.problems.empty()) return std::make_shared<tools::CustomModules const>(std::move(loaded.modules));
  return Error{Errc::invalid, fmt::format("{}", fmt::join(loaded.problems, "\n"))};
}

std::vector<std::string> check_allowed_flows(tools::CustomModules const& custom, flow::Catalog const& flows) {
  std::vector<std::string> mistakes;
  for (auto const& callee : custom.methods()) {
    for (auto const& flow : callee.method->flows) {
      if (flows.find(flow) != nullptr) continue;
      mistakes.push_back(
          fmt::format("{}: {} is allowed in a flow '{}', which does not exist; the flows are {}",
                      callee.module->file, callee.full_name(), flow, fmt::join(flows.names(), ", ")));
    }
  }
  return mistakes;
}

}  // namespace runnel::app
