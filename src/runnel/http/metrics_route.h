#pragma once

#include "runnel/base/blocking_pool.h"
#include "runnel/base/metrics.h"
#include "runnel/http/router.h"

namespace runnel::http {

// GET /metrics (HTTP-7), written on a thread of `pool`. Both outlive the server.
void add_metrics_route(Router& router, base::Metrics const& metrics, base::BlockingPool& pool, Access access);

}  // namespace runnel::http
