#include "runnel/http/routes/threads/thread_routes.h"

#include <boost/json.hpp>

#include <array>
#include <memory>
#include <utility>
#include <variant>

#include "runnel/api/number_query.h"
#include "runnel/api/problem.h"
#include "runnel/core/json/members.h"
#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"
#include "runnel/core/time/instant.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

constexpr std::int64_t kDefaultPage = 50;
constexpr std::int64_t kLargestPage = 200;

// About the size of the answer for a large page.
constexpr std::size_t kHistoryAnswer = std::size_t{1024} * 1024;
constexpr std::size_t kListAnswer = std::size_t{64} * 1024;

struct ThreadRoutes {
  store::Store& store;
  base::Clock const& clock;
  std::shared_ptr<ThreadRouteOptions const> options;
};

// The part of a row's metadata that a client may see: what the message is, and what became of it. The rest is
// internal (RUN-10).
void append_kind(JsonObject& object, std::string const& metadata) {
  static constexpr std::array<std::pair<char const*, char const*>, 5> kShown{{{"type", "type"},
                                                                              {"stage", "stage"},
                                                                              {"status", "status"},
                                                                              {"toolCallId", "tool_call_id"},
                                                                              {"toolName", "tool_name"}}};
  auto const document = parse_stored_json(metadata);
  if (!document || !document->is_object()) return;
  for (auto const& [name, key] : kShown) {
    auto const* value = document->get_object().if_contains(key);
    if (value != nullptr && value->is_string()) object.text(name, value->get_string());
  }
  // The card of a tool call's result, to the byte as it was streamed (RUN-10).
  if (auto const card = text_at(document->get_object(), "ui_schema"); !card.empty())
    object.raw("ui_schema", card);
}

void append_message(std::string& out, store::MessageRow const& row) {
  JsonObject object{out};
  object.text("id", row.id.text)
      .number("seq", row.seq)
      .text("role", to_string(row.role))
      .text("content", row.content);
  append_kind(object, row.metadata);
  object.text("runId", row.run.text).text("createdAt", to_rfc3339(row.created_at)).close();
}

asio::awaitable<api::Reply> show_history(ThreadRoutes routes, api::Request request) {
  auto const thread = request.query("threadId");
  if (!thread)
    co_return api::problem(400, "THREAD_ID_REQUIRED",
                           "The query parameter 'threadId' is required: ?threadId=…");
  auto const before = api::number_query(request, "before", 1, INT64_MAX);
  if (auto const* bad = std::get_if<api::Response>(&before)) co_return *bad;
  auto const limit = api::number_query(request, "limit", 1, kLargestPage);
  if (auto const* bad = std::get_if<api::Response>(&limit)) co_return *bad;

  store::PageSize const size{static_cast<std::size_t>(std::get<0>(limit).value_or(kDefaultPage)),
                             routes.options->history_bytes};
  auto const page = co_await routes.store.history(request.user, ThreadId{*thread}, std::get<0>(before), size);
  if (!page && page.error().code == Errc::not_found) co_return no_such_thread();
  if (!page) co_return api::problem_from(page.error(), request.request_id);
  std::string body;
  JsonObject object{body};
  object.text("threadId", *thread);
  append_json_array(object.key("messages"), page->messages, append_message);
  if (page->next_before) {
    object.number("nextBefore", *page->next_before);
  } else {
    object.null("nextBefore");
  }
  object.close();
  co_return api::json_response(200, std::move(body));
}

void append_thread(std::string& out, store::ThreadRow const& row) {
  JsonObject object{out};
  object.text("threadId", row.id.text);
  if (row.title) {
    object.text("title", *row.title);
  } else {
    object.null("title");
  }
  object.text("status", to_string(row.status)).text("createdAt", to_rfc3339(row.created_at));
  object.text("updatedAt", to_rfc3339(row.updated_at));
  if (row.active_run.empty()) {
    object.null("activeRunId");
  } else {
    object.text("activeRunId", row.active_run.text);
  }
  append_json_array(object.key("queuedRunIds"), row.queued_runs,
                    [](std::string& to, RunId const& run) { append_json_string(to, run.text); });
  object.close();
}

asio::awaitable<api::Reply> list_threads(ThreadRoutes routes, api::Request request) {
  auto const limit = api::number_query(request, "limit", 1, kLargestPage);
  if (auto const* bad = std::get_if<api::Response>(&limit)) co_return *bad;
  auto const page =
      co_await routes.store.threads(request.user, request.query("cursor").value_or(""),
                                    static_cast<std::size_t>(std::get<0>(limit).value_or(kDefaultPage)));
  if (!page && page.error().code == Errc::invalid) {
    co_return api::problem(400, "INVALID_REQUEST", "'cursor' must be the nextCursor of an earlier page");
  }
  if (!page) co_return api::problem_from(page.error(), request.request_id);
  std::string body;
  JsonObject object{body};
  append_json_array(object.key("threads"), page->threads, append_thread);
  if (page->next.empty()) {
    object.null("nextCursor");
  } else {
    object.text("nextCursor", page->next);
  }
  object.close();
  co_return api::json_response(200, std::move(body));
}

asio::awaitable<api::Reply> show_thread(ThreadRoutes routes, api::Request request) {
  auto const row = co_await routes.store.thread(request.user, ThreadId{request.param("thread_id")});
  if (!row) co_return api::problem_from(row.error(), request.request_id);
  if (!*row) co_return no_such_thread();
  std::string body;
  append_thread(body, **row);
  co_return api::json_response(200, std::move(body));
}

asio::awaitable<api::Reply> rename_thread(ThreadRoutes routes, api::Request request) {
  std::string title{request.json().at("title").as_string()};
  auto const renamed = co_await routes.store.rename_thread(request.user, ThreadId{request.param("thread_id")},
                                                           std::move(title), routes.clock.now_ms());
  if (!renamed && renamed.error().code == Errc::not_found) co_return no_such_thread();
  if (!renamed) co_return api::problem_from(renamed.error(), request.request_id);
  co_return co_await show_thread(routes, std::move(request));
}

// It has the same form as the THREAD_BUSY that a run gets. `active` is empty if the run has ended meanwhile.
api::Response thread_busy(RunId const& active) {
  std::string details = "{}";
  if (!active.empty()) {
    details.clear();
    JsonObject{details}.text("activeRunId", active.text).close();
  }
  return api::problem(409, "THREAD_BUSY",
                      "The thread has an active run" + (active.empty() ? "" : ", " + active.text) +
                          ". Wait until it ends, or cancel it, and then delete the thread.",
                      details);
}

asio::awaitable<api::Reply> delete_thread(ThreadRoutes routes, api::Request request) {
  auto const found = co_await routes.store.thread(request.user, ThreadId{request.param("thread_id")});
  if (!found) co_return api::problem_from(found.error(), request.request_id);
  if (!*found) co_return no_such_thread();
  auto const outcome =
      co_await routes.store.delete_thread(request.user, ThreadId{request.param("thread_id")});
  if (!outcome) co_return api::problem_from(outcome.error(), request.request_id);
  if (*outcome == store::DeleteOutcome::not_found) co_return no_such_thread();
  if (*outcome == store::DeleteOutcome::busy) {
    auto const row = co_await routes.store.thread(request.user, ThreadId{request.param("thread_id")});
    co_return thread_busy(row && *row ? (*row)->active_run : RunId{});
  }
  if (routes.options->deleted) routes.options->deleted((*found)->key);
  co_return api::empty_response(204);
}

}  // namespace

api::Response no_such_thread() {
  return api::problem(404, "NOT_FOUND", "You have no such thread.");
}

void add_thread_routes(api::Router& router, store::Store& store, base::Clock const& clock,
                       ThreadRouteOptions options) {
  ThreadRoutes const routes{store, clock, std::make_shared<ThreadRouteOptions const>(std::move(options))};
  auto const with =
      [routes](asio::awaitable<api::Reply> (*handle)(ThreadRoutes, api::Request)) -> api::Handler {
    return [routes, handle](api::Request request) { return handle(routes, std::move(request)); };
  };
  std::string const threads = "/api/v1/agent/threads";
  router.add(api::Method::get, "/api/v1/agent/history", api::Access::user, with(&show_history),
             {.answer_bytes = kHistoryAnswer});
  router.add(api::Method::get, threads, api::Access::user, with(&list_threads),
             {.answer_bytes = kListAnswer});
  router.add(api::Method::get, threads + "/{thread_id}", api::Access::user, with(&show_thread));
  router.add(api::Method::patch, threads + "/{thread_id}", api::Access::user, with(&rename_thread));
  router.add(api::Method::del, threads + "/{thread_id}", api::Access::user, with(&delete_thread));
}

}  // namespace runnel::http
