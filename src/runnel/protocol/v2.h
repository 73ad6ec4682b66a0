#pragma once

#include <string>

#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/run_names.h"
#include "runnel/protocol/envelope.h"

namespace runnel::protocol {

// The codec of dialect v2 (wires.h).
void encode_v2(RunNames const& names, Record const& record, Envelope const& envelope, std::string& out);

}  // namespace runnel::protocol
