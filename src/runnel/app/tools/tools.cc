#include "runnel/app/tools/tools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "runnel/app/modules.h"
#include "runnel/app/tools/tool_programs.h"
#include "runnel/tools/echo_tool.h"
#include "runnel/tools/project_cli_tool.h"

namespace runnel::app {

namespace {

std::string describe(std::vector<ListedMethod> const& methods) {
  std::string out =
      "Acts for the user, with one method of one module per call. If the input of a method is not known, "
      "call it with what is known: the failure has its schema. The methods:";
  for (auto const& method : methods)
    out += fmt::format("\n- {}: {}", method.name, method.description);
  return out;
}

tools::ProjectCliOptions cli_options(Settings const& settings, ToolParts const& parts,
                                     ModuleTools const& modules) {
  tools::ProjectCliOptions options;
  options.program = program_beside_this(tools::kProjectCli);
  options.sandbox = tool_sandbox(settings);
  options.time = std::chrono::seconds{settings.tool_timeout_s};
  options.output_bytes = static_cast<std::size_t>(settings.tool_output_bytes);
  options.approvals = {settings.tool_approvals.begin(), settings.tool_approvals.end()};
  auto const listed = list_methods(modules.methods, *parts.custom);
  for (auto const& method : listed) {
    options.methods.insert(method.name);
    if (method.needs_approval) options.approvals.insert(method.name);
  }
  options.description = describe(listed);
  options.cards = tools::Cards{modules.cards};
  options.custom = parts.custom;
  options.custom_options = {custom_sandbox(settings), options.time, options.output_bytes};
  return options;
}

tools::ProgramSlotLimits slot_limits(Settings const& settings) {
  return {static_cast<std::size_t>(settings.tools_at_once_per_user),
          static_cast<std::size_t>(settings.tools_at_once)};
}

}  // namespace

std::vector<std::string> tool_names() {
  return {tools::kProjectCli};
}

Result<void> check_tool_approvals(Settings const& settings, tools::CustomModules const& custom) {
  auto methods = Modules{settings}.method_names();
  for (auto const& callee : custom.methods())
    methods.push_back(callee.full_name());
  for (auto const& name : settings.tool_approvals) {
    if (std::find(methods.begin(), methods.end(), name) != methods.end()) continue;
    return Error{Errc::invalid, fmt::format("tools.approval: there is no method '{}'; the methods are {}",
                                            name, fmt::join(methods, ", "))};
  }
  return {};
}

std::string approvals_in_words(Settings const& settings, tools::CustomModules const& custom) {
  std::set<std::string> names{settings.tool_approvals.begin(), settings.tool_approvals.end()};
  for (auto const& callee : custom.methods()) {
    if (callee.method->needs_approval) names.insert(callee.full_name());
  }
  return names.empty() ? "" : fmt::format("; approval is needed for {}", fmt::join(names, ", "));
}

tools::Toolbox make_toolbox(Settings const& settings, ToolParts const& parts, ModuleTools const& modules) {
  std::vector<std::unique_ptr<tools::Tool>> tools;
  if (settings.test_tool) {
    tools.push_back(std::make_unique<tools::EchoTool>());
  } else {
    tools.push_back(std::make_unique<tools::ProjectCliTool>(
        tools::ProjectCliParts{parts.server.credentials(), parts.clock, parts.server, parts.starting,
                               std::make_shared<tools::ProgramSlots>(slot_limits(settings)),
                               std::make_shared<tools::ProgramSlots>(slot_limits(settings))},
        cli_options(settings, parts, modules)));
  }
  return tools::Toolbox{std::move(tools)};
}

}  // namespace runnel::app
