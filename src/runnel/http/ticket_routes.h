#pragma once

#include "runnel/http/router.h"
#include "runnel/http/tickets.h"

namespace runnel::http {

// POST /api/v1/auth/tickets (HTTP-4). `tickets` outlives the server.
void add_ticket_route(Router& router, Tickets& tickets);

}  // namespace runnel::http
