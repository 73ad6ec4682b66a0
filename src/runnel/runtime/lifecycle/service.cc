#include "runnel/runtime/lifecycle/service.h"

#include <boost/asio/post.hpp>

#include <utility>

#include "runnel/base/log/log.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/text.h"
#include "runnel/runtime/lifecycle/start_refusals.h"

namespace runnel::runtime {

namespace asio = boost::asio;
using base::CancelReason;
using store::Async;

Service::Service(ServiceParts parts, ServiceOptions options)
    : parts_{parts},
      options_{std::move(options)},
      created_at_{parts_.clock.now_ms()},
      live_{options_.metrics.active},
      approvals_{parts_.sql != nullptr ? std::make_unique<store::Approvals>(*parts_.sql) : nullptr},
      client_calls_{parts_.sql != nullptr ? std::make_unique<store::ClientCalls>(*parts_.sql) : nullptr} {}

// Fills in the defaults and refuses names that are not configured.
std::optional<Refusal> Service::complete(RunInput& input) const {
  if (input.flow.empty()) input.flow = parts_.flows.default_name();
  if (parts_.flows.find(input.flow) == nullptr) {
    return unknown_name("flow", input.flow, parts_.flows.names());
  }
  if (!input.model.empty() && parts_.models.find(input.model) == nullptr) {
    return unknown_name("model", input.model, parts_.models.names());
  }
  return std::nullopt;
}

// The first facts do not depend on the epoch, so they can be written in the transaction that creates it.
store::Begin Service::make_begin(RunId const& run, RunInput const& input, Closings const& closings,
                                 Beginning& beginning) const {
  beginning = Beginning{};
  auto const now = parts_.clock.now_us();
  beginning.records.push_back(beginning.tail.add(RunStarted{closings.shown}, now).value());
  for (auto const& closed : closings.facts)
    beginning.records.push_back(beginning.tail.add(closed, now).value());
  beginning.records.push_back(
      beginning.tail.add(StepStarted{parts_.flows.find(input.flow)->first().name}, now).value());

  store::Begin begin;
  begin.closings = closings.rows;
  begin.title = title_from(input.text);
  begin.facts = beginning.tail.take();
  if (input.client.is_reply) return begin;
  begin.user_message.id = MessageId{input.message_id.empty() ? run.text + "-input" : input.message_id};
  begin.user_message.role = store::Role::user;
  begin.user_message.mask = input_mask(store::RuntimeMode::chat);
  begin.user_message.content = input.text;
  begin.user_message.metadata = R"({"type":"user_input"})";
  return begin;
}

Async<std::variant<Started, Refusal>> Service::start(UserId owner, RunInput input, std::string request_id) {
  auto const asked = std::chrono::steady_clock::now();
  options_.metrics.ignored_keys.add(input.ignored_keys);
  if (draining()) co_return draining_refusal();
  if (input.resume) co_return co_await resume(std::move(owner), std::move(input));
  if (auto refusal = take_client_tools(input)) co_return std::move(*refusal);
  store::AdmitRequest request;
  request.input_hash = hash_of(input);
  if (auto refusal = complete(input)) co_return std::move(*refusal);

  request.owner = owner;
  request.thread = input.thread ? *input.thread : ThreadId{mint_uuid()};
  request.run = input.run ? *input.run : RunId{mint_uuid()};
  request.on_busy = input.on_busy;
  request.agui_version = input.agui_version;
  request.profile_query = parts_.profile_query;
  request.country = Preferences{}.country;
  request.node = options_.node;
  request.now = parts_.clock.now_ms();
  request.max_active_runs = options_.runs_per_user;
  request.max_stored_bytes = options_.storage_bytes_per_user;
  request.budgets = options_.budgets;
  request.budgets.day_began = day_of(request.now);
  Claimed claimed;

  auto admitted = co_await admit(&request, &input, &claimed.beginning);
  if (!admitted) {
    // A request that did not reach the store has no facts.
    bool const was_sent = !request.begin.facts.body.empty();
    if (admitted.error().code == Errc::unavailable && was_sent) look_for(request);
    co_return admitted.error();
  }
  if (auto* refusal = std::get_if<Refusal>(&*admitted)) co_return std::move(*refusal);
  auto* const admission = &std::get<store::Admission>(*admitted);
  using Outcome = store::Admission::Outcome;
  if (admission->outcome == Outcome::id_conflict) co_return run_id_conflict();
  if (admission->outcome == Outcome::too_many_runs) co_return too_many_runs(options_.runs_per_user);
  if (admission->outcome == Outcome::over_quota) {
    co_return over_quota(admission->stored_bytes, options_.storage_bytes_per_user);
  }
  if (admission->outcome == Outcome::over_budget) {
    auto refusal = co_await budget_refusal(&parts_.store, request.budgets, owner, request.thread);
    if (!refusal) co_return refusal.error();
    co_return std::move(*refusal);
  }
  if (admission->outcome == Outcome::thread_busy) {
    auto const active = co_await parts_.store.run_by_key(admission->run);
    co_return thread_busy(active && *active ? (*active)->id : RunId{});
  }
  if (admission->outcome != Outcome::existing) {
    options_.metrics.admitted.add();
    options_.metrics.admission_time.observe(std::chrono::steady_clock::now() - asked);
  }
  if (admission->outcome == Outcome::queued) options_.metrics.queued.add();
  if (admission->cancel_first) {
    live_.cancel(*admission->cancel_first, CancelReason::replaced);
    wake_if_canceled(*admission->cancel_first);
  }
  if (admission->outcome == Outcome::running) {
    claimed.row.key = admission->run;
    claimed.row.thread = admission->thread;
    claimed.row.owner = owner;
    claimed.row.mode = request.mode;
    claimed.row.profile = std::move(admission->profile);
    claimed.row.thread_id = request.thread;
    claimed.row.id = request.run;
    claimed.row.started_at = request.now;
    claimed.request_id = std::move(request_id);
    claimed.input = std::move(input);
    claimed.beginning.tail.set_epoch(admission->epoch);
    let_go(std::move(claimed));
  }
  Started started;
  started.key = admission->run;
  started.created = admission->outcome != Outcome::existing;
  started.thread = started.created ? request.thread : admission->thread_id;
  started.run = request.run;
  started.status = admission->status;
  co_return started;
}

LiveRun Service::go_live(store::RunRow const& run) {
  LiveRun live{parts_.hub.open(run.key, RunNames{run.thread_id, run.id}), std::make_shared<base::Cancel>()};
  live_.add(run.key, live);
  if (stopping_) live_.cancel(run.key, CancelReason::shutdown);
  parts_.hub.threads().tell(run.thread);
  return live;
}

void Service::let_go(Claimed claimed) {
  options_.metrics.facts.add(static_cast<std::int64_t>(claimed.beginning.records.size()));
  base::log(base::LogLevel::info, "run started",
            {{"run_id", claimed.row.id.text},
             {"thread_id", claimed.row.thread_id.text},
             {"request_id", claimed.request_id}});
  auto live = go_live(claimed.row);
  auto const executor = live.channel->context().get_executor();
  tasks_.spawn(executor, "run", run_begun(std::move(claimed), std::move(live)));
}

std::shared_ptr<RunWriter> Service::make_writer(LiveRun const& live, RunWriter::Start start) {
  return std::make_shared<RunWriter>(
      parts_.store, parts_.clock, tasks_, live.channel, live.cancel, std::move(start),
      RunWriter::Options{.delta_flush = options_.delta_flush, .metrics = options_.metrics});
}

// Uses the profile that was frozen with the run. Bad values in it are replaced by defaults and break no run
// (FLOW-5).
Job Service::make_job(store::RunRow const& row, RunInput input) const {
  auto reading = read_stored_profile(row.profile);
  for (auto const& problem : reading.problems) {
    base::log(base::LogLevel::warn, "stored profile has a bad value",
              {{"run_id", row.id.text},
               {"thread_id", row.thread_id.text},
               {"path", problem.path},
               {"problem", problem.what}});
  }
  Job job;
  job.run = row.key;
  job.thread = row.thread;
  job.owner = row.owner;
  job.mode = row.mode;
  job.started_at = row.started_at;
  job.input = std::move(input);
  job.profile = std::move(reading.profile);
  job.terms = make_terms(row.owner, row.thread_id);
  return job;
}

RunParts Service::run_parts() const {
  return {parts_.store,           parts_.clock,     parts_.flows,           parts_.models,  parts_.tools,
          options_.context_bytes, approvals_.get(), options_.approval_time, parts_.memories};
}

asio::awaitable<void> Service::run_begun(Claimed claimed, LiveRun live) {
  if (claimed.cancel_requested) live.cancel->request(CancelReason::user);
  auto const writer = make_writer(live, RunWriter::Start{claimed.row.key, std::move(claimed.beginning.tail)});
  writer->begin(std::move(claimed.beginning.records));
  Result<store::Ended> result = Error{Errc::internal, "the run threw"};
  try {
    auto job = make_job(claimed.row, std::move(claimed.input));
    auto trouble = co_await complete_reply(&job, claimed.row.thread_id, live.cancel);
    Executor executor{run_parts(), writer, live.cancel, std::move(job), options_.metrics};
    if (!trouble) {
      result = trouble.error();
    } else if (*trouble) {
      result = co_await executor.fail(std::move(**trouble));
    } else {
      result = co_await executor.run();
    }
  } catch (std::exception const& error) {
    result = Error{Errc::internal, error.what()};
  }
  co_await leave(std::move(claimed.row), std::move(claimed.request_id), writer, std::move(result), 0);
}

void Service::tell_end(store::RunRow const& run, std::string const& request_id, RunEnd const& end) const {
  options_.metrics.ended(end.status).add();
  auto const begun = run.started_at != 0 ? run.started_at : run.created_at;
  base::log(base::LogLevel::info, "run ended",
            {{"run_id", run.id.text},
             {"thread_id", run.thread_id.text},
             {"request_id", request_id},
             {"status", to_string(end.status)},
             {"ms", parts_.clock.now_ms() - begun},
             {"code", end.error_code},
             {"error_id", end.error_id}});
}

// Runs that an earlier process queued are not in the gauge.
void Service::left_queue(store::RunRow const& run) const {
  if (run.created_at >= created_at_) options_.metrics.queued.subtract();
}

void Service::ended(store::RunRow const& row, std::string const& request_id, RunWriter const& writer,
                    Result<store::Ended> result, std::int64_t failures) {
  auto const run = row.key;
  if (auto const& end = writer.end_written()) tell_end(row, request_id, *end);
  if (!result) {
    base::log(base::LogLevel::warn, "run left unfinished",
              {{"run_id", row.id.text},
               {"thread_id", row.thread_id.text},
               {"request_id", request_id},
               {"detail", result.error().detail}});
    if (!stopping_ && result.error().code != Errc::fenced) {
      tasks_.spawn(parts_.cores.at(0).get_executor(), "take run over again",
                   take_over_again(row, failures + 1));
    }
  } else if (result->waits) {
    base::log(base::LogLevel::info, "run waits for an approval",
              {{"run_id", row.id.text}, {"thread_id", row.thread_id.text}});
    // A cancel that came while the run began to wait has found neither a writer nor a waiting run.
    wake_if_canceled(run);
  } else if (result->promoted && !draining()) {
    spawn_pending(*result->promoted);
  }
  live_.remove(run, writer.cancel());
}

Async<CancelReply> Service::cancel(UserId owner, ThreadId thread, RunId run) {
  auto const row = co_await parts_.store.find_run(std::move(owner), std::move(thread), std::move(run));
  if (!row) co_return row.error();
  if (!*row) co_return CancelReply{};

  auto const outcome = co_await parts_.store.request_cancel((*row)->key, parts_.clock.now_ms());
  if (!outcome) co_return outcome.error();
  if (outcome->status == store::RunStatus::queued) co_return co_await discard(**row);
  if (!store::is_ended(outcome->status)) live_.cancel((*row)->key, CancelReason::user);
  if (outcome->status == store::RunStatus::awaiting_approval) wake_if_canceled((*row)->key);
  co_return CancelReply{true, store::is_ended(outcome->status), outcome->status};
}

store::DiscardRequest Service::make_discard(RunKey run) const {
  LogTail tail;
  tail.add(RunStarted{}, parts_.clock.now_us()).value();
  tail.add(RunCanceled{}, parts_.clock.now_us()).value();
  return {run, parts_.clock.now_ms(), tail.take()};
}

// Ends a queued run. If it has been promoted in the meantime, it is canceled like any other run.
Async<CancelReply> Service::discard(store::RunRow row) {
  auto const discarded = co_await parts_.store.discard(make_discard(row.key));
  if (!discarded && discarded.error().code == Errc::conflict) {
    auto const again = co_await parts_.store.request_cancel(row.key, parts_.clock.now_ms());
    if (!again) co_return again.error();
    if (!store::is_ended(again->status)) live_.cancel(row.key, CancelReason::user);
    if (again->status == store::RunStatus::awaiting_approval) wake_if_canceled(row.key);
    co_return CancelReply{true, store::is_ended(again->status), again->status};
  }
  if (!discarded) co_return discarded.error();
  left_queue(row);
  options_.metrics.facts.add(2);
  tell_end(row, {}, RunEnd{store::RunStatus::canceled, "RUN_CANCELED"});

  auto const channel = parts_.hub.open(row.key, RunNames{row.thread_id, row.id});
  asio::post(channel->context(), [channel] { channel->retire(); });
  parts_.hub.threads().tell(row.thread);
  co_return CancelReply{true, false, store::RunStatus::canceled};
}

void Service::shut_down(std::chrono::milliseconds limit) {
  draining_ = true;
  if (!live_.wait_until_idle(limit)) {
    base::log(base::LogLevel::warn, "runs are left for the next start",
              {{"runs", static_cast<std::int64_t>(live_.size())}});
  }
  stopping_ = true;
  live_.cancel_all(CancelReason::shutdown);
  asio::post(parts_.cores.at(0), [cancel = sweep_cancel_] { cancel->request(CancelReason::shutdown); });
  tasks_.join();
}

}  // namespace runnel::runtime
