#pragma once

#include "runnel/protocol/envelope.h"

namespace runnel::protocol {

// SSE-1: a frame of id, event, one line of data, and a blank line.
extern Envelope const kSse;

// The same without the id, for what is no fact of a run's log.
extern Envelope const kSseWithoutId;

}  // namespace runnel::protocol
