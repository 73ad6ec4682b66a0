#pragma once

#include "runnel/http/router.h"
#include "runnel/http/run_feed.h"
#include "runnel/runtime/service.h"

namespace runnel::http {

// Starting, streaming, cancelling and looking at runs (RUN-1 … RUN-5, SSE-1 … SSE-7, AGUI-2).
void add_run_routes(Router& router, runtime::Service& service, FeedParts feed);

}  // namespace runnel::http
