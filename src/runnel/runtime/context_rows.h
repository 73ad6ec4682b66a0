#pragma once

#include <vector>

#include "runnel/flow/context.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// The thread's messages as a stage of `run` sees them: without what the run itself has produced so far, which
// its stages are told of by other ways.
std::vector<flow::ContextRow> context_rows(std::vector<store::MessageRow> const& rows, RunId const& run);

}  // namespace runnel::runtime
