#pragma once

#include <cstddef>
#include <functional>

#include "runnel/base/clock.h"
#include "runnel/http/router.h"
#include "runnel/store/store.h"

namespace runnel::http {

struct ThreadRouteOptions {
  std::size_t history_bytes = std::size_t{1} << 20U;  // Of messages in a page of history (HTTP-9).
  std::function<void()> deleted;                      // Called when a thread was; may be empty.
};

// Threads and their messages (RUN-5, RUN-10).
void add_thread_routes(Router& router, store::Store& store, base::Clock const& clock,
                       ThreadRouteOptions options);

}  // namespace runnel::http
