#pragma once

#include <string>

#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/run_names.h"
#include "runnel/protocol/envelope.h"

namespace runnel::protocol {

// The codec of dialect tasks (wires.h): the events that polls and WebSockets get (TASK-6).
void encode_tasks(RunNames const& names, Record const& record, Envelope const& envelope, std::string& out);

}  // namespace runnel::protocol
