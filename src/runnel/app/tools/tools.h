#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runnel/app/settings/settings.h"
#include "runnel/app/tools/methods.h"
#include "runnel/app/tools/tool_server.h"
#include "runnel/base/blocking_pool.h"
#include "runnel/core/card/card.h"
#include "runnel/tools/custom/custom_module.h"
#include "runnel/tools/tool.h"

namespace runnel::app {

// The names of the tools that flows may use.
std::vector<std::string> tool_names();

// Fails with `invalid` if tools.approval names a method that does not exist.
Result<void> check_tool_approvals(Settings const& settings, tools::CustomModules const& custom);

// The methods that somebody must approve, in words that follow others. Empty if there are none.
std::string approvals_in_words(Settings const& settings, tools::CustomModules const& custom);

// What the tools work with. It outlives them.
struct ToolParts {
  ToolServer& server;
  base::Clock const& clock;
  std::shared_ptr<base::BlockingPool> starting;
  std::shared_ptr<tools::CustomModules const> custom;
};

// What the server's own modules offer.
struct ModuleTools {
  std::vector<modules::Method> methods;
  std::vector<CardForm> cards;
};
tools::Toolbox make_toolbox(Settings const& settings, ToolParts const& parts, ModuleTools const& modules);

}  // namespace runnel::app
