#pragma once

#include "runnel/http/router.h"
#include "runnel/store/store.h"

namespace runnel::http {

// What the caller's model calls used and cost (USE-8).
void add_usage_route(Router& router, store::Store& store);

}  // namespace runnel::http
