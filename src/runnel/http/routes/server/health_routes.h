#pragma once

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/api/router.h"

namespace runnel::http {

// What the server needs, by name, and whether it is there (store, stream, not draining …).
using Checks = std::vector<std::pair<std::string, bool>>;
using CheckReadiness = std::function<boost::asio::awaitable<Checks>()>;

// GET /healthz: whether the process answers. GET /readyz: whether it can serve; 503 while a check fails.
void add_health_routes(api::Router& router, CheckReadiness check);

}  // namespace runnel::http
