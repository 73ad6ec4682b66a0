#pragma once

#include <cstddef>

#include "runnel/api/router.h"
#include "runnel/http/routes/threads/thread_event_routes.h"
#include "runnel/runtime/lifecycle/service.h"

namespace runnel::http {

// The routes that start, stream, cancel and show runs (RUN-1 … RUN-5, SSE-1 … SSE-7, AGUI-2). `message_bytes`
// is how large the newest user message may be (HTTP-9).
void add_run_routes(api::Router& router, runtime::Service& service, base::Clock const& clock,
                    ThreadFeedParts feed, std::size_t message_bytes);

}  // namespace runnel::http
