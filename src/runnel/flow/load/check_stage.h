#pragma once

#include "runnel/flow/load/conf_file.h"
#include "runnel/flow/load/flow_graph.h"
#include "runnel/flow/load/load_flow.h"

namespace runnel::flow {

// The files whose texts a flow uses. A mistake in a text is reported in its file.
struct TextFiles {
  ConfFile& agents;
  ConfFile& tasks;
};

// These check that the fields that a stage's answer and texts name exist, and that their stages have finished
// by then.
void check_answer(LoadedFlow const& flow, FlowGraph const& graph, LoadedStage const& stage);
void check_placeholders(LoadedFlow const& flow, FlowGraph const& graph, LoadedStage const& stage,
                        TextFiles const& files);

}  // namespace runnel::flow
