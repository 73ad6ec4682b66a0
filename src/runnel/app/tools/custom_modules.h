#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runnel/app/settings/settings.h"
#include "runnel/core/error.h"
#include "runnel/flow/flow.h"
#include "runnel/tools/custom/custom_module.h"

namespace runnel::app {

using SharedCustomModules = std::shared_ptr<tools::CustomModules const>;

// The modules in the folder tools.modules. Fails with `invalid`; the detail is for the operator and has one
// line per mistake.
Result<SharedCustomModules> load_custom(Settings const& settings);

// The mistakes of modules that allow a method in a flow that does not exist, one line each.
std::vector<std::string> check_allowed_flows(tools::CustomModules const& custom, flow::Catalog const& flows);

}  // namespace runnel::app
