#pragma once

#include <vector>

#include "runnel/flow/context.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// The thread's messages as a stage sees them. What the stage's run itself has produced so far is not among
// them: its stages are told of that by other ways.
std::vector<flow::ContextRow> context_rows(std::vector<store::MessageRow> rows);

}  // namespace runnel::runtime
