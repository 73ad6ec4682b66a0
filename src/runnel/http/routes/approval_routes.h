#pragma once

#include "runnel/api/router.h"
#include "runnel/base/clock.h"
#include "runnel/runtime/lifecycle/service.h"

namespace runnel::http {

// The routes that list tool calls which wait for their user's approval, and answer them (RUN-13). Both
// arguments outlive the router.
void add_approval_routes(api::Router& router, runtime::Service& service, base::Clock const& clock);

}  // namespace runnel::http
