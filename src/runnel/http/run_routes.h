#pragma once

#include <cstddef>

#include "runnel/http/router.h"
#include "runnel/http/run_feed.h"
#include "runnel/runtime/service.h"

namespace runnel::http {

// Starting, streaming, cancelling and looking at runs (RUN-1 … RUN-5, SSE-1 … SSE-7, AGUI-2).
// `message_bytes`: how large the newest user message may be (HTTP-9).
void add_run_routes(Router& router, runtime::Service& service, FeedParts feed, std::size_t message_bytes);

}  // namespace runnel::http
