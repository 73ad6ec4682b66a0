#pragma once

#include <string>

#include "runnel/app/settings/settings.h"
#include "runnel/core/error.h"
#include "runnel/tools/custom/custom_module.h"
#include "runnel/tools/sandbox.h"

namespace runnel::app {

// The path of a program in the folder of this one.
std::string program_beside_this(char const* name);

// The sandboxes of project_cli and of custom modules. If the server is root, they have different users, so
// that a custom module can see nothing of project_cli's credentials.
tools::Sandbox tool_sandbox(Settings const& settings);
tools::Sandbox custom_sandbox(Settings const& settings);

// Tries the programs of tool calls: project_cli and runnel_sandbox, which are beside the server's own, and
// whether those of custom modules can be started. Fails with `invalid` and a text for the operator if one of
// them is missing or of another version, or if this machine cannot give them the sandbox that the settings
// ask for. Otherwise returns what the sandbox has reached, in words.
Result<std::string> check_tool_programs(Settings const& settings, tools::CustomModules const& custom);

}  // namespace runnel::app
