#pragma once

#include "runnel/api/router.h"
#include "runnel/store/store.h"

namespace runnel::http {

// GET /api/v1/usage: what the caller's model calls used and cost (USE-8).
void add_usage_route(api::Router& router, store::Store& store);

}  // namespace runnel::http
