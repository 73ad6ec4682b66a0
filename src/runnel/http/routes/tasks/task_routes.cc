#include "runnel/http/routes/tasks/task_routes.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
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
#include "runnel/http/routes/report_gate.h"
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
// An answer with events of this size needs no reservation of its own.
constexpr std::size_t kSmallPoll = std::size_t{8} * 1024;
// How long a poll waits until its user's other polls have read the store.
constexpr std::chrono::milliseconds kTurnWait{5000};
constexpr std::chrono::milliseconds kTurnPause{10};

struct TaskRoutes {
  runtime::Service& service;
  FeedParts feed;
  std::shared_ptr<LiveTasks> live;
  std::shared_ptr<ReportGate> reading;  // Bounds how many polls hold events that they read from the store.
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

api::Response no_room_for_answer() {
  auto response =
      api::problem(429, "TOO_MANY_ANSWER_BYTES",
                   "The answers on their way to you have reached the limit of bytes for one user; read them "
                   "first.");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

// Whether there is room for an answer with events of this size: for them, and for the body that they are
// copied to.
bool has_room_for(api::Request const& request, std::size_t bytes) {
  return bytes <= kSmallPoll || !request.reserve_answer || request.reserve_answer(2 * bytes);
}

using Turn = std::unique_ptr<ReportGate::Slot>;

// Null if the user's other polls take too long.
asio::awaitable<Turn> wait_for_turn(std::shared_ptr<ReportGate> gate, UserId user) {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  for (auto waited = std::chrono::milliseconds{0}; waited < kTurnWait; waited += kTurnPause) {
    auto turn = std::make_unique<ReportGate::Slot>(gate, user);
    if (turn->verdict() == ReportGate::Verdict::enters) co_return turn;
    turn.reset();
    timer.expires_after(kTurnPause);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_return nullptr;
}

// The answer from memory, when there is an event or the time to wait is over. Empty if the store must be
// asked.
asio::awaitable<std::optional<api::Response>> answer_live(std::shared_ptr<LiveTask> task,
                                                          api::Request const* request, Poll const* poll) {
  std::size_t most = kSmallPoll;
  co_await task->catch_up();
  for (;;) {
    auto const read = task->read(poll->from, most);
    if (!read) co_return std::nullopt;
    bool const is_due = read->next_idx > poll->from || LiveTask::Clock::now() >= poll->until;
    if (!is_due) {
      co_await task->wait_for(poll->from, poll->until);
    } else if (read->bytes <= most) {
      co_return task_response(
          {poll->task, read->thread.text, "running", read->elements, read->first_idx, read->next_idx});
    } else {
      most = read->bytes + kSmallPoll;
      if (!has_room_for(*request, most)) co_return no_room_for_answer();
    }
  }
}

// Becomes a reader of the run, for all who will poll it. Null if the run has ended, or the server stops.
asio::awaitable<std::shared_ptr<LiveTask>> make_live(TaskRoutes const* routes, UserId user,
                                                     store::RunRow const* run) {
  auto const key = LiveTasks::key(user, run->id);
  if (auto known = routes->live->find(key)) co_return known;
  auto const first = oldest_kept(run->next_idx);
  auto const turn = co_await wait_for_turn(routes->reading, user);
  if (!turn) co_return nullptr;
  auto const after = co_await place_before_event(routes->feed, user, run->key, first);
  if (!after) co_return nullptr;
  auto feed = std::make_unique<RunFeed>(routes->feed, user, *run, *after,
                                        protocol::tasks_wire(protocol::Transport::poll));
  auto const executor = co_await asio::this_coro::executor;
  auto channel = routes->feed.hub.open(run->key, RunNames{run->thread_id, run->id});
  auto const task =
      std::make_shared<LiveTask>(routes->live, key, std::move(feed), std::move(channel), first, executor);
  bool const started = co_await task->start();
  if (!started) co_return nullptr;
  co_return routes->live->add(key, task);
}

asio::awaitable<api::Reply> answer_from_store(TaskRoutes const* routes, api::Request const* request,
                                              store::RunRow const* run, Poll const* poll) {
  auto const turn = co_await wait_for_turn(routes->reading, request->user);
  if (!turn) co_return too_many_reports(ReportGate::Verdict::user_has_enough);
  auto const events = co_await read_task_events(routes->feed, request->user, run, poll->from);
  if (!events) co_return api::problem_from(events.error(), request->request_id);
  if (!has_room_for(*request, events->bytes_from(poll->from))) co_return no_room_for_answer();
  auto const elements = events->elements(poll->from);
  // Nothing at all is kept if the log has expired or cannot be read.
  bool const is_gone = events->is_empty() && poll->from < events->next_idx();
  auto const first = events->is_cut() || is_gone ? events->first_idx() : oldest_kept(events->next_idx());
  co_return task_response(
      {run->id.text, run->thread_id.text, task_status(run->status), elements, first, events->next_idx()});
}

asio::awaitable<api::Reply> poll_task(TaskRoutes routes, api::Request request) {
  auto parsed = read_poll(request);
  if (auto* bad = std::get_if<api::Response>(&parsed)) co_return std::move(*bad);
  auto& poll = std::get<Poll>(parsed);
  auto live = routes.live->find(LiveTasks::key(request.user, RunId{poll.task}));
  if (live) {
    auto answer = co_await answer_live(live, &request, &poll);
    if (answer) co_return std::move(*answer);
  }
  auto run = co_await routes.feed.store.find_owned_run(request.user, RunId{poll.task});
  if (!run) co_return api::problem_from(run.error(), request.request_id);
  if (!*run) co_return no_such_task();
  poll.task = (*run)->id.text;  // It may have been an alias (AGUI-4).
  if (!live && !store::is_ended((*run)->status)) {
    live = co_await make_live(&routes, request.user, &**run);
    if (live) {
      auto answer = co_await answer_live(live, &request, &poll);
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
  auto const after = co_await place_before_event(routes.feed, request.user, row.key, first);
  if (!after && after.error().code == Errc::unavailable)
    co_return api::problem_from(after.error(), request.request_id);
  if (!after) co_return events_expired(row);
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
  auto reading = std::make_shared<ReportGate>(ReportGate::Limits{});
  TaskRoutes const routes{service, feed, std::move(live), std::move(reading), message_bytes};
  auto const with =
      [routes](asio::awaitable<api::Reply> (*handle)(TaskRoutes, api::Request)) -> api::Handler {
    return [routes, handle](api::Request request) { return handle(routes, std::move(request)); };
  };
  std::string const task = std::string{kTasksPath} + "/{task_id}";
  router.add(api::Method::post, kTasksPath, api::Access::user, with(&start_task),
             {.bodies = api::Bodies::messages});
  router.add(api::Method::get, task, api::Access::user, with(&poll_task));
  router.add(api::Method::get, task + "/ws", api::Access::user_or_ticket, with(&follow_task),
             {.answers = api::Answers::as_web_sockets});
  router.add(api::Method::post, task + "/cancel", api::Access::user, with(&cancel_task));
}

}  // namespace runnel::http
