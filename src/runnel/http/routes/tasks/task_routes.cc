#include "runnel/http/routes/tasks/task_routes.h"

#include <boost/asio/this_coro.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "kTasksOpenApiJson.inc"
#include "runnel/api/number_query.h"
#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"
#include "runnel/http/routes/run_lookup.h"
#include "runnel/http/routes/start_answers.h"
#include "runnel/http/routes/tasks/log_place.h"
#include "runnel/http/routes/tasks/task_answers.h"
#include "runnel/http/web_socket/handshake.h"
#include "runnel/protocol/wires.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

constexpr char kTasksPath[] = "/api/v1/tasks";
constexpr std::int64_t kLongestWaitS = 30;
// Reserved while an answer is made. Most are much smaller; the longest is kKeptEventBytes.
constexpr std::size_t kPollAnswer = std::size_t{128} * 1024;

struct TaskRoutes {
  runtime::Service& service;
  FeedParts feed;
  std::shared_ptr<LiveTasks> live;
  std::size_t message_bytes;
};

api::Response no_such_task() {
  return api::problem(404, "NOT_FOUND", "You have no such task.");
}

// --- POST /api/v1/tasks ---

std::variant<runtime::RunInput, api::Response> take_input(TaskRoutes const& routes,
                                                          api::Request const& request) {
  auto const& body = request.json().get_object();
  runtime::RunInput input;
  input.text = std::string{body.at("message").get_string()};
  auto const* const conversation = body.if_contains("conversation_id");
  if (conversation != nullptr && conversation->is_string())
    input.thread = ThreadId{std::string{conversation->get_string()}};
  if (input.text.size() > routes.message_bytes)
    return message_too_large(input.text.size(), routes.message_bytes);
  return input;
}

asio::awaitable<api::Reply> start_task(TaskRoutes routes, api::Request request) {
  auto input = take_input(routes, request);
  if (auto* refusal = std::get_if<api::Response>(&input)) co_return std::move(*refusal);
  auto const outcome = co_await routes.service.start(
      request.user, std::move(std::get<runtime::RunInput>(input)), request.request_id);
  if (!outcome) co_return api::problem_from(outcome.error(), request.request_id);
  if (auto const* refusal = std::get_if<runtime::Refusal>(&*outcome)) co_return refused(*refusal);

  auto const& started = std::get<runtime::Started>(*outcome);
  std::string body;
  JsonObject{body}
      .text("task_id", started.run.text)
      .text("conversation_id", started.thread.text)
      .text("status", task_status(started.status))
      .close();
  auto response = api::json_response(202, std::move(body));
  response.run = RunNames{started.thread, started.run};
  co_return response;
}

// --- GET /api/v1/tasks/{task_id} ---

struct Poll {
  std::string task;
  std::int64_t from = 0;
  LiveTask::Clock::time_point until;  // How long to wait for an event.
};

std::variant<Poll, api::Response> read_poll(api::Request const& request) {
  auto const from = api::number_query(request, "from", 0, std::numeric_limits<std::int64_t>::max());
  if (auto const* bad = std::get_if<api::Response>(&from)) return *bad;
  auto const wait = api::number_query(request, "wait", 0, kLongestWaitS);
  if (auto const* bad = std::get_if<api::Response>(&wait)) return *bad;
  Poll poll;
  poll.task = request.param("task_id");
  poll.from = std::get<0>(from).value_or(0);
  poll.until = LiveTask::Clock::now() + std::chrono::seconds{std::get<0>(wait).value_or(0)};
  return poll;
}

// The answer from memory, when there is an event or the time to wait is over. Empty if the store must be
// asked.
asio::awaitable<std::optional<api::Response>> answer_live(std::shared_ptr<LiveTask> task, Poll const* poll) {
  for (;;) {
    auto const read = task->read(poll->from);
    if (!read) co_return std::nullopt;
    if (read->next_idx > poll->from || LiveTask::Clock::now() >= poll->until) {
      co_return task_response(
          {poll->task, read->thread.text, "running", read->elements, read->first_idx, read->next_idx});
    }
    co_await task->wait_for(poll->from, poll->until);
  }
}

// Becomes a reader of the run, for all who will poll it. Null if the run has ended, or the server stops.
asio::awaitable<std::shared_ptr<LiveTask>> make_live(TaskRoutes const* routes, UserId user,
                                                     store::RunRow const* run) {
  auto const first = oldest_kept(run->next_idx);
  auto const after = co_await place_before_event(routes->feed.store, run->key, first);
  if (!after) co_return nullptr;
  auto feed = std::make_unique<RunFeed>(routes->feed, user, *run, *after,
                                        protocol::tasks_wire(protocol::Transport::poll));
  auto const key = LiveTasks::key(user, run->id);
  auto const task = std::make_shared<LiveTask>(routes->live, key, std::move(feed), first,
                                               co_await asio::this_coro::executor);
  bool const started = co_await task->start();
  if (!started) co_return nullptr;
  co_return routes->live->add(key, task);
}

asio::awaitable<api::Reply> answer_from_store(TaskRoutes const* routes, api::Request const* request,
                                              store::RunRow const* run, Poll const* poll) {
  auto const events = co_await read_task_events(routes->feed, request->user, run, poll->from);
  if (!events) co_return api::problem_from(events.error(), request->request_id);
  auto const elements = events->elements(poll->from);
  auto const first = run->log_expired ? events->first_idx() : oldest_kept(events->next_idx());
  co_return task_response(
      {run->id.text, run->thread_id.text, task_status(run->status), elements, first, events->next_idx()});
}

asio::awaitable<api::Reply> poll_task(TaskRoutes routes, api::Request request) {
  auto parsed = read_poll(request);
  if (auto* bad = std::get_if<api::Response>(&parsed)) co_return std::move(*bad);
  auto const& poll = std::get<Poll>(parsed);
  auto live = routes.live->find(LiveTasks::key(request.user, RunId{poll.task}));
  if (live) {
    auto answer = co_await answer_live(live, &poll);
    if (answer) co_return std::move(*answer);
  }
  auto run = co_await routes.feed.store.find_owned_run(request.user, RunId{poll.task});
  if (!run) co_return api::problem_from(run.error(), request.request_id);
  if (!*run) co_return no_such_task();
  if (!live && !store::is_ended((*run)->status)) {
    live = co_await make_live(&routes, request.user, &**run);
    if (live) {
      auto answer = co_await answer_live(live, &poll);
      if (answer) co_return std::move(*answer);
    }
    run = co_await routes.feed.store.find_owned_run(request.user, RunId{poll.task});
    if (!run) co_return api::problem_from(run.error(), request.request_id);
    if (!*run) co_return no_such_task();
  }
  co_return co_await answer_from_store(&routes, &request, &**run, &poll);
}

// --- POST /api/v1/tasks/{task_id}/cancel ---

asio::awaitable<api::Reply> cancel_task(TaskRoutes routes, api::Request request) {
  RunId const id{request.param("task_id")};
  auto const run = co_await routes.feed.store.find_owned_run(request.user, id);
  if (!run) co_return api::problem_from(run.error(), request.request_id);
  if (!*run) co_return no_such_task();
  auto const reply = co_await routes.service.cancel(request.user, (*run)->thread_id, id);
  if (!reply) co_return api::problem_from(reply.error(), request.request_id);
  if (!reply->found) co_return no_such_task();
  std::string body;
  JsonObject{body}
      .text("task_id", id.text)
      .text("conversation_id", (*run)->thread_id.text)
      .text("status", task_status(reply->status))
      .close();
  co_return api::json_response(reply->had_ended ? 200 : 202, std::move(body));
}

// --- GET /api/v1/tasks/{task_id}/ws ---

// A run's feed on a WebSocket.
class WebSocketFeed final : public HoldingFeed {
 public:
  WebSocketFeed(std::unique_ptr<EventFeed> feed, std::string accept)
      : HoldingFeed{std::move(feed)}, accept_{std::move(accept)} {}

  [[nodiscard]] std::string_view web_socket_accept() const override { return accept_; }

 private:
  std::string const accept_;
};

asio::awaitable<api::Reply> follow_task(TaskRoutes routes, api::Request request) {
  auto const from = api::number_query(request, "from", 0, std::numeric_limits<std::int64_t>::max());
  if (auto const* bad = std::get_if<api::Response>(&from)) co_return *bad;
  auto const run = co_await routes.feed.store.find_owned_run(request.user, RunId{request.param("task_id")});
  if (!run) co_return api::problem_from(run.error(), request.request_id);
  if (!*run) co_return no_such_task();
  auto const& row = **run;
  if (row.log_expired) co_return events_expired(row);
  auto const first = std::clamp(std::get<0>(from).value_or(0), oldest_kept(row.next_idx), row.next_idx);
  auto const after = co_await place_before_event(routes.feed.store, row.key, first);
  if (!after) co_return api::problem_from(after.error(), request.request_id);
  auto feed = std::make_unique<RunFeed>(routes.feed, request.user, row, *after,
                                        protocol::tasks_wire(protocol::Transport::web_socket));
  auto const ready = co_await feed->read_ahead();
  if (!ready && ready.error().code == Errc::not_found) co_return events_expired(row);
  if (!ready) co_return api::problem_from(ready.error(), request.request_id);
  auto accept = accept_value(*request.header("Sec-WebSocket-Key"));
  co_return std::make_unique<WebSocketFeed>(std::move(feed), std::move(accept));
}

}  // namespace

std::string_view tasks_openapi_part() {
  return kTasksOpenApiJson;
}

void add_task_routes(api::Router& router, runtime::Service& service, FeedParts feed,
                     std::shared_ptr<LiveTasks> live, std::size_t message_bytes) {
  TaskRoutes const routes{service, feed, std::move(live), message_bytes};
  auto const with =
      [routes](asio::awaitable<api::Reply> (*handle)(TaskRoutes, api::Request)) -> api::Handler {
    return [routes, handle](api::Request request) { return handle(routes, std::move(request)); };
  };
  std::string const task = std::string{kTasksPath} + "/{task_id}";
  router.add(api::Method::post, kTasksPath, api::Access::user, with(&start_task),
             {.bodies = api::Bodies::messages});
  router.add(api::Method::get, task, api::Access::user, with(&poll_task), {.answer_bytes = kPollAnswer});
  router.add(api::Method::get, task + "/ws", api::Access::user_or_ticket, with(&follow_task),
             {.answers = api::Answers::as_web_sockets});
  router.add(api::Method::post, task + "/cancel", api::Access::user, with(&cancel_task));
}

}  // namespace runnel::http
