#pragma once

#include "runnel/modules/module.h"

namespace runnel::modules::tickets {

// Tickets that open a run's stream or a WebSocket for a browser, which cannot send a header there (HTTP-4).
// The module is also an api::StreamTickets.
Definition define();

}  // namespace runnel::modules::tickets
