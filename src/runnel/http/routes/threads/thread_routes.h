#pragma once

#include <cstddef>
#include <functional>

#include "runnel/api/router.h"
#include "runnel/base/clock.h"
#include "runnel/store/store.h"

namespace runnel::http {

struct ThreadRouteOptions {
  std::size_t history_bytes = std::size_t{1} << 20U;  // Messages in a page of history (HTTP-9).
  std::function<void(ThreadKey)> deleted;             // Called after a thread was deleted; may be empty.
};

api::Response no_such_thread();

// The routes of threads and their messages (RUN-5, RUN-10).
void add_thread_routes(api::Router& router, store::Store& store, base::Clock const& clock,
                       ThreadRouteOptions options);

}  // namespace runnel::http
