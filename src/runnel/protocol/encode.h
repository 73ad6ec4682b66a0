#pragma once

#include <string>

#include "runnel/core/dialect.h"
#include "runnel/core/fact.h"
#include "runnel/core/run_names.h"

namespace runnel::protocol {

// Appends the record's one SSE frame in that dialect, or nothing where the dialect does not show it (WIRE-1).
// A pure function: every replay is byte-equal. A delta allocates only what `out` grows by.
void encode_frame(Dialect dialect, RunNames const& names, Record const& record, std::string& out);

}  // namespace runnel::protocol
