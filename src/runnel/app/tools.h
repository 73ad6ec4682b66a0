#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runnel/app/settings/settings.h"
#include "runnel/app/tool_server.h"
#include "runnel/base/blocking_pool.h"
#include "runnel/tools/tool.h"

namespace runnel::app {

// The names of the tools that flows may use.
std::vector<std::string> tool_names();

// The programs of tool calls, which are beside the server's own: project_cli and runnel_sandbox. Fails with
// `invalid` and a text for the operator if one of them is missing or of another version, or if this machine
// cannot give them the sandbox that the settings ask for. Otherwise returns what the sandbox has reached, in
// words.
Result<std::string> check_tool_programs(Settings const& settings);

// Fails with `invalid` if tools.approval names a method that does not exist.
Result<void> check_tool_approvals(Settings const& settings, std::vector<std::string> const& methods);

// What the tools work with. It outlives them.
struct ToolParts {
  ToolServer& server;
  base::Clock const& clock;
  std::shared_ptr<base::BlockingPool> starting;
};

// `methods` are those that models may call.
tools::Toolbox make_toolbox(Settings const& settings, ToolParts const& parts,
                            std::vector<modules::Method> const& methods);

}  // namespace runnel::app
