#pragma once

#include <string>
#include <vector>

#include "runnel/app/settings.h"
#include "runnel/core/error.h"
#include "runnel/flow/flow.h"
#include "runnel/flow/loader.h"
#include "runnel/model/registry.h"

namespace runnel::app {

// The files of conf/ that flows are made of, as they were when the binary was built.
flow::Files built_in_flows();

// The flows of the folder that the settings name, or the built-in ones; they may name these models and tools.
// Fails with `invalid`; the detail has a line for each mistake, for the operator.
Result<flow::Catalog> load_flows(Settings const& settings, model::Registry const& models,
                                 std::vector<std::string> const& tools);

// The same, with those lines one by one. `models` is null where it is not known which there are; then any
// name is good.
flow::Loaded check_flows(Settings const& settings, model::Registry const* models,
                         std::vector<std::string> const& tools);

}  // namespace runnel::app
