#pragma once

#include "runnel/flow/load_flow.h"

namespace runnel::flow {

// One stage of a flow's file, and what can be said of it without the others.
LoadedStage load_stage(ConfFile& file, PlacedName const& name, YAML::Node const& node, Parts const& parts,
                       Known const& known);

}  // namespace runnel::flow
