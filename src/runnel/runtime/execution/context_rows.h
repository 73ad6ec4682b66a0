#pragma once

#include <vector>

#include "runnel/flow/prompt/context.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// The thread's messages as a stage of the run `own` sees them. `rows` must not contain what that run has
// produced, because its stages get that in other ways: those of its rows that are there are its input.
std::vector<flow::ContextRow> context_rows(std::vector<store::MessageRow> rows, RunId const& own);

}  // namespace runnel::runtime
