#pragma once

#include <string>

#include "runnel/core/fact.h"
#include "runnel/core/run_names.h"

namespace runnel::protocol {

// Appends the fact's frame in dialect v2, or nothing where v2 does not show it.
void encode_v2(RunNames const& names, Record const& record, std::string& out);

}  // namespace runnel::protocol
