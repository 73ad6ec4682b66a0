#pragma once

#include <string>
#include <vector>

#include "runnel/app/settings/settings.h"
#include "runnel/base/skills/skills.h"
#include "runnel/core/error.h"
#include "runnel/flow/flow.h"
#include "runnel/flow/load/loader.h"
#include "runnel/model/registry.h"
#include "runnel/tools/custom/custom_module.h"

namespace runnel::app {

// The files in conf/ that define flows, as they were when the binary was built.
flow::Files built_in_flows();

// The flows in the folder that the settings name, or the built-in flows. They may refer to these models and
// skills, to the server's tools, and to the methods of its own and of these custom modules. Fails with
// `invalid`; the detail is for the operator and has one line per mistake.
Result<flow::Catalog> load_flows(Settings const& settings, model::Registry const& models,
                                 tools::CustomModules const& custom, base::Skills const& skills);

// The same, but with the mistakes as separate lines. If it is not known which models or skills there
// are, `models` or `skills` is null, and any name is accepted.
flow::Loaded check_flows(Settings const& settings, model::Registry const* models,
                         tools::CustomModules const& custom, base::Skills const* skills);

}  // namespace runnel::app
