#pragma once

#include <string>

#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/run_names.h"
#include "runnel/protocol/envelope.h"

namespace runnel::protocol {

// The codec of dialect v1 (wires.h), an older form of v2.
void encode_v1(RunNames const& names, Record const& record, Envelope const& envelope, std::string& out);

}  // namespace runnel::protocol
