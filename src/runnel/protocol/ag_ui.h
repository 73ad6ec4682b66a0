#pragma once

#include <string>

#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/run_names.h"
#include "runnel/protocol/envelope.h"

namespace runnel::protocol {

// The codecs of dialect ag-ui (wires.h) for the two generations of clients (AGUI-1): @ag-ui/client 1.0 and
// its 0.0 predecessors. An optional member is left out, never null: null is fatal to both generations.
void encode_ag_ui_1_0(RunNames const& names, Record const& record, Envelope const& envelope,
                      std::string& out);
void encode_ag_ui_0_0(RunNames const& names, Record const& record, Envelope const& envelope,
                      std::string& out);

}  // namespace runnel::protocol
