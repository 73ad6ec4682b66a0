#pragma once

#include "runnel/flow/conf_file.h"
#include "runnel/flow/flow_graph.h"
#include "runnel/flow/load_flow.h"

namespace runnel::flow {

// The files whose texts a flow uses; their mistakes are told there.
struct TextFiles {
  ConfFile& agents;
  ConfFile& tasks;
};

// What a stage's answer and its texts name: fields that are there, of stages that have finished by then.
void check_answer(LoadedFlow const& flow, FlowGraph const& graph, LoadedStage const& stage);
void check_placeholders(LoadedFlow const& flow, FlowGraph const& graph, LoadedStage const& stage,
                        TextFiles const& files);

}  // namespace runnel::flow
