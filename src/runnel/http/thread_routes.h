#pragma once

#include "runnel/base/clock.h"
#include "runnel/http/router.h"
#include "runnel/store/store.h"

namespace runnel::http {

// Threads and their messages (RUN-5, RUN-10).
void add_thread_routes(Router& router, store::Store& store, base::Clock const& clock);

}  // namespace runnel::http
