#include "runnel/http/routes/threads/thread_event_routes.h"

#include <memory>
#include <utility>
#include <variant>

#include "runnel/api/problem.h"
#include "runnel/http/routes/stream_request.h"
#include "runnel/http/routes/threads/thread_feed.h"
#include "runnel/http/routes/threads/thread_routes.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

// The version of AG-UI for a reader that names none. A thread may have runs of clients of both versions, and
// what is for the older one is understood by both.
constexpr char kCommonVersion[] = "0.0";

asio::awaitable<api::Reply> follow_thread(ThreadFeedParts parts, api::Request request) {
  auto const from = request.query("from").value_or("active");
  if (from != "active" && from != "start")
    co_return api::problem(400, "INVALID_REQUEST", "The query parameter 'from' must be active or start.");
  co_return co_await stream_thread(parts, std::move(request),
                                   from == "start" ? ThreadFrom::start : ThreadFrom::active);
}

}  // namespace

asio::awaitable<api::Reply> stream_thread(ThreadFeedParts parts, api::Request request, ThreadFrom from) {
  auto const wire = wanted_wire(request, kCommonVersion);
  if (auto const* refusal = std::get_if<api::Response>(&wire)) co_return *refusal;
  auto const thread = co_await parts.run.store.thread(request.user, ThreadId{request.param("thread_id")});
  if (!thread) co_return api::problem_from(thread.error(), request.request_id);
  if (!*thread) co_return no_such_thread();

  store::ThreadRuns runs{parts.sql};
  ThreadReads const reads{parts.run.store, runs};
  auto place = co_await thread_place(reads, (*thread)->key, from, last_event_id(request));
  if (!place) co_return api::problem_from(place.error(), request.request_id);
  if (auto const* bad = std::get_if<BadEventId>(&*place)) co_return bad_event_id(*bad, "thread");
  co_return std::make_unique<ThreadFeed>(parts.run, parts.sql, request.user, **thread,
                                         std::get<ThreadPlace>(std::move(*place)), std::get<Wire>(wire));
}

void add_thread_event_routes(api::Router& router, ThreadFeedParts parts) {
  router.add(api::Method::get, "/api/v1/agent/threads/{thread_id}/events", api::Access::user_or_ticket,
             [parts](api::Request request) { return follow_thread(parts, std::move(request)); },
             {.answers = api::Answers::as_streams});
}

}  // namespace runnel::http
