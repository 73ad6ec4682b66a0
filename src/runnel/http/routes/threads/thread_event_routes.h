#pragma once

#include <boost/asio/awaitable.hpp>

#include "runnel/api/router.h"
#include "runnel/core/fact/wire.h"
#include "runnel/http/routes/run_feed.h"
#include "runnel/http/routes/threads/thread_start.h"

namespace runnel::http {

// What every stream of a thread needs. All of it outlives the server.
struct ThreadFeedParts {
  FeedParts run;
  store::Sql& sql;
};

// The stream of the caller's thread that the path's {thread_id} names, or the refusal.
boost::asio::awaitable<api::Reply> stream_thread(ThreadFeedParts parts, api::Request request,
                                                 ThreadFrom from);

// The route that follows a thread (RUN-15).
void add_thread_event_routes(api::Router& router, ThreadFeedParts parts);

}  // namespace runnel::http
