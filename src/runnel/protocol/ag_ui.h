#pragma once

#include <string>

#include "runnel/core/fact.h"
#include "runnel/core/run_names.h"

namespace runnel::protocol {

// The two generations of clients (AGUI-1): @ag-ui/client 1.0 and its 0.0 predecessors.
enum class AgUiVersion { v0_0, v1_0 };

// Appends the fact's frame in AG-UI, or nothing where AG-UI does not show it. An optional member
// is left out, never null: null is fatal to both generations.
void encode_ag_ui(AgUiVersion version, RunNames const& names, Record const& record, std::string& out);

}  // namespace runnel::protocol
