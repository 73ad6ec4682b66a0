#include "runnel/http/routes/run_routes.h"

#include <boost/json/value.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"
#include "runnel/core/time/instant.h"
#include "runnel/http/routes/ag_ui_join.h"
#include "runnel/http/routes/resume_point.h"
#include "runnel/http/routes/run_lookup.h"
#include "runnel/http/routes/start_answers.h"
#include "runnel/http/routes/stream_request.h"

namespace runnel::http {

namespace asio = boost::asio;

namespace {

constexpr char kRunsPath[] = "/api/v1/agent/runs";

struct RunRoutes {
  runtime::Service& service;
  base::Clock const& clock;
  FeedParts feed;
  ThreadFeedParts threads;
  std::size_t message_bytes;
};

// What the body asks for, or the refusal. Only the newest user message counts: earlier ones are not kept. The
// body is not kept either, because its parsed tree may be many times as large.
std::variant<runtime::RunInput, api::Response> take_run_input(RunRoutes const& routes,
                                                              api::Request& request) {
  auto parsed = runtime::parse_run_input(request.json());
  request.parsed_body.reset();
  request.body = std::string{};
  if (auto const* refusal = std::get_if<runtime::Refusal>(&parsed)) return refused(*refusal);
  auto& input = std::get<runtime::RunInput>(parsed);
  if (input.text.size() > routes.message_bytes)
    return message_too_large(input.text.size(), routes.message_bytes);
  return std::move(input);
}

std::string events_url(ThreadId const& thread, RunId const& run) {
  return std::string{kRunsPath} + "/" + api::encode_component(thread.text) +
         "/events?runId=" + api::encode_component(run.text);
}

asio::awaitable<api::Reply> start_run(RunRoutes routes, api::Request request) {
  auto input = take_run_input(routes, request);
  if (auto* refusal = std::get_if<api::Response>(&input)) co_return std::move(*refusal);
  auto const outcome = co_await routes.service.start(
      request.user, std::move(std::get<runtime::RunInput>(input)), request.request_id);
  if (!outcome) co_return api::problem_from(outcome.error(), request.request_id);
  if (auto const* refusal = std::get_if<runtime::Refusal>(&*outcome)) co_return refused(*refusal);

  auto const& started = std::get<runtime::Started>(*outcome);
  // A new run is reported as pending, although it may be running by the time the client asks.
  bool const begins = started.created && started.status != store::RunStatus::queued;
  std::string body;
  JsonObject object{body};
  object.text("threadId", started.thread.text).text("runId", started.run.text);
  object.text("status", to_string(begins ? store::RunStatus::pending : started.status));
  object.text("eventsUrl", events_url(started.thread, started.run)).close();
  auto response = api::json_response(started.created ? 202 : 200, std::move(body));
  response.run = RunNames{started.thread, started.run};
  co_return response;
}

asio::awaitable<api::Reply> feed_reply(RunRoutes routes, api::Request request, store::RunRow run,
                                       Position after, Wire wire, RunFeed::Until until) {
  auto feed = std::make_unique<RunFeed>(routes.feed, request.user, run, after, wire, until);
  auto const ready = co_await feed->read_ahead();
  if (!ready && ready.error().code == Errc::not_found) co_return events_expired(run);
  if (!ready) co_return api::problem_from(ready.error(), request.request_id);
  co_return feed;
}

// AGUI-4: a run that goes on is shown from where it does so under this id.
asio::awaitable<api::Reply> resumed_reply(RunRoutes routes, api::Request request, runtime::Started started,
                                          Wire wire) {
  auto found = co_await find_named_run(routes.feed.store, request.user, started.thread, started.run);
  if (!found) co_return api::problem_from(found.error(), request.request_id);
  if (!*found) co_return no_such_run();
  auto const after = (*found)->before_alias.value_or(Position{});
  co_return co_await feed_reply(routes, std::move(request), std::move((*found)->row), after, wire,
                                RunFeed::Until::pause);
}

// AGUI-2: starts the run, or lets one go on that waits, and answers with its stream.
asio::awaitable<api::Reply> run_ag_ui(RunRoutes routes, api::Request request) {
  auto parsed = take_run_input(routes, request);
  if (auto* refusal = std::get_if<api::Response>(&parsed)) co_return std::move(*refusal);
  auto& input = std::get<runtime::RunInput>(parsed);
  auto const wire = ag_ui_wire(input.agui_version);
  bool const resumes = input.resume.has_value();
  auto const outcome = co_await routes.service.start(request.user, std::move(input), request.request_id);
  if (!outcome) co_return api::problem_from(outcome.error(), request.request_id);
  if (auto const* refusal = std::get_if<runtime::Refusal>(&*outcome)) co_return refused(*refusal);

  auto const& started = std::get<runtime::Started>(*outcome);
  if (resumes) co_return co_await resumed_reply(routes, std::move(request), started, wire);
  store::RunRow row;
  row.key = started.key;
  row.thread_id = started.thread;
  row.id = started.run;
  row.status = started.status;
  co_return co_await feed_reply(routes, std::move(request), std::move(row), Position{}, wire,
                                RunFeed::Until::pause);
}

// AGUI-5. A client that resumes has what comes before.
bool wants_to_join(api::Request const& request) {
  return request.query("join").has_value() && !last_event_id(request);
}

std::optional<api::Response> refuse_join(api::Request const& request) {
  auto const join = request.query("join");
  if (!join || (*join == "1" && request.query("dialect") == "ag-ui")) return std::nullopt;
  return api::problem(
      400, "INVALID_REQUEST",
      "The query parameter 'join' must be 1, and needs the dialect ag-ui: ?dialect=ag-ui&join=1.");
}

asio::awaitable<api::Reply> join_reply(RunRoutes routes, api::Request request, store::RunRow run, Wire wire) {
  if (run.log_expired) co_return events_expired(run);
  auto feed = co_await join_run(routes.feed, request.user, run, wire, &routes.clock);
  if (!feed && feed.error().code == Errc::not_found) co_return events_expired(run);
  if (!feed) co_return api::problem_from(feed.error(), request.request_id);
  co_return std::move(*feed);
}

asio::awaitable<api::Reply> events_reply(RunRoutes routes, api::Request request, NamedRun named, Wire wire) {
  auto& run = named.row;
  if (wants_to_join(request)) co_return co_await join_reply(routes, std::move(request), std::move(run), wire);
  auto const point = resume_point(run, last_event_id(request));
  if (std::holds_alternative<EventsExpired>(point)) co_return events_expired(run);
  if (std::holds_alternative<AlreadyComplete>(point)) co_return api::empty_response(204);
  if (auto const* bad = std::get_if<BadEventId>(&point)) {
    co_return bad_event_id(*bad, "run");
  }
  auto after = std::get<ResumeAfter>(point).position;
  if (named.before_alias && after.n < named.before_alias->n) after = *named.before_alias;
  co_return co_await feed_reply(routes, std::move(request), std::move(run), after, wire, RunFeed::Until::end);
}

asio::awaitable<api::Reply> stream_events(RunRoutes routes, api::Request request) {
  if (auto refusal = refuse_join(request)) co_return std::move(*refusal);
  // Clients of v1 may name no run, and follow the thread from its newest run on.
  if (!request.query("runId") && request.query("dialect") == "v1")
    co_return co_await stream_thread(routes.threads, std::move(request), ThreadFrom::newest);
  auto found = co_await find_run(&routes.feed.store, &request);
  if (auto* refusal = std::get_if<api::Response>(&found)) co_return std::move(*refusal);
  auto& named = std::get<NamedRun>(found);

  auto const wire = wanted_wire(request, named.row.agui_version);
  if (auto const* refusal = std::get_if<api::Response>(&wire)) co_return *refusal;
  co_return co_await events_reply(routes, std::move(request), std::move(named), std::get<Wire>(wire));
}

asio::awaitable<api::Reply> cancel_run(RunRoutes routes, api::Request request) {
  auto found = co_await find_run(&routes.feed.store, &request);
  if (auto* refusal = std::get_if<api::Response>(&found)) co_return std::move(*refusal);
  auto const& run = std::get<NamedRun>(found).row;
  auto const run_id = request.query("runId");
  auto const reply = co_await routes.service.cancel(request.user, run.thread_id, run.id);
  if (!reply) co_return api::problem_from(reply.error(), request.request_id);
  if (!reply->found) co_return no_such_run();
  std::string body;
  JsonObject object{body};
  object.text("threadId", request.param("thread_id")).text("runId", *run_id);
  object.text("status", to_string(reply->status)).close();
  co_return api::json_response(reply->had_ended ? 200 : 202, std::move(body));
}

std::string run_json(store::RunRow const& run, store::RunUsage const& usage) {
  std::string body;
  JsonObject object{body};
  object.text("threadId", run.thread_id.text)
      .text("runId", run.id.text)
      .text("status", to_string(run.status));
  object.text("createdAt", to_rfc3339(run.created_at));
  if (run.started_at != 0) object.text("startedAt", to_rfc3339(run.started_at));
  if (run.ended_at != 0) object.text("endedAt", to_rfc3339(run.ended_at));
  if (!run.error_code.empty()) object.text("errorCode", run.error_code);
  if (!run.error_id.empty()) object.text("errorId", run.error_id);
  JsonObject used{object.key("usage")};
  used.number("inputTokens", usage.input_tokens).number("outputTokens", usage.output_tokens);
  used.text("cost", to_decimal(usage.cost)).text("currency", usage.currency).close();
  object.text("eventsUrl", events_url(run.thread_id, run.id)).close();
  return body;
}

asio::awaitable<api::Reply> show_run(RunRoutes routes, api::Request request) {
  auto found = co_await find_run(&routes.feed.store, &request);
  if (auto* refusal = std::get_if<api::Response>(&found)) co_return std::move(*refusal);
  auto const& run = std::get<NamedRun>(found).row;
  auto const usage = co_await routes.feed.store.run_usage(run.key);
  if (!usage) co_return api::problem_from(usage.error(), request.request_id);
  co_return api::json_response(200, run_json(run, *usage));
}

}  // namespace

void add_run_routes(api::Router& router, runtime::Service& service, base::Clock const& clock,
                    ThreadFeedParts feed, std::size_t message_bytes) {
  RunRoutes const routes{service, clock, feed.run, feed, message_bytes};
  auto const with = [routes](asio::awaitable<api::Reply> (*handle)(RunRoutes, api::Request)) -> api::Handler {
    return [routes, handle](api::Request request) { return handle(routes, std::move(request)); };
  };
  std::string const runs = kRunsPath;
  router.add(api::Method::post, runs, api::Access::user, with(&start_run), {.bodies = api::Bodies::messages});
  router.add(api::Method::post, "/api/v1/agent/ag-ui", api::Access::user, with(&run_ag_ui),
             {.answers = api::Answers::as_streams, .bodies = api::Bodies::messages});
  router.add(api::Method::get, runs + "/{thread_id}", api::Access::user, with(&show_run));
  router.add(api::Method::get, runs + "/{thread_id}/events", api::Access::user_or_ticket,
             with(&stream_events), {.answers = api::Answers::as_streams});
  router.add(api::Method::post, runs + "/{thread_id}/cancel", api::Access::user, with(&cancel_run));
}

}  // namespace runnel::http
