#pragma once

#include "runnel/api/router.h"
#include "runnel/modules/module.h"

namespace runnel::modules::memory {

// /api/v1/memory/{kind}: what was noted about the caller, for apps.
void add_memory_routes(api::Router& router, Context const& context);

}  // namespace runnel::modules::memory
