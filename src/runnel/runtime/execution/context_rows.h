#pragma once

#include <vector>

#include "runnel/flow/prompt/context.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// The thread's messages as a stage sees them. `rows` must not contain what the stage's own run has produced,
// because its stages get that in other ways.
std::vector<flow::ContextRow> context_rows(std::vector<store::MessageRow> rows);

}  // namespace runnel::runtime
