#pragma once

#include "runnel/protocol/envelope.h"

namespace runnel::protocol {

// Text messages of RFC 6455, each of one frame that is not masked, as servers send them.
extern Envelope const kWebSocketText;

}  // namespace runnel::protocol
