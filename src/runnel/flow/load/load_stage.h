#pragma once

#include "runnel/flow/load/load_flow.h"

namespace runnel::flow {

// Reads one stage of a flow's file and checks what can be checked without the other stages.
LoadedStage load_stage(ConfFile& file, PlacedName const& name, YAML::Node const& node, FlowParts const& parts,
                       Known const& known);

}  // namespace runnel::flow
