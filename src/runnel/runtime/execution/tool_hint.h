#pragma once

#include <string>
#include <string_view>

#include "runnel/flow/flow.h"
#include "runnel/tools/tool.h"

namespace runnel::runtime {

// The method that a stage's result names for the next stage, which may call it: the first one in the text.
// Empty if there is none. It is only a guess, for clients that show early what may come (TASK-6).
std::string method_named_in(std::string_view result, flow::Stage const& next, tools::Toolbox const& tools);

}  // namespace runnel::runtime
