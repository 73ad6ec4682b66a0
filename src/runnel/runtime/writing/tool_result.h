#pragma once

#include "runnel/core/fact/fact_order.h"
#include "runnel/runtime/writing/commit.h"
#include "runnel/tools/tool.h"

namespace runnel::runtime {

// What tells of a tool call's result: the facts, with its card if it has one, and the row. `args` are those
// that the call was made with.
Commit tool_result(ToolCallId const& call, FactOrder::OpenCall const& open, JsonText const& args,
                   tools::ToolOutcome const& outcome, int mask);

}  // namespace runnel::runtime
