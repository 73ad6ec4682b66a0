#pragma once

#include "runnel/api/router.h"
#include "runnel/base/blocking_pool.h"
#include "runnel/base/metrics/metrics.h"

namespace runnel::http {

// GET /metrics (HTTP-7), written on a thread of `pool`. `metrics` and `pool` outlive the server.
void add_metrics_route(api::Router& router, base::Metrics const& metrics, base::BlockingPool& pool,
                       api::Access access);

}  // namespace runnel::http
