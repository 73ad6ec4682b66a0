// The part of the service that starts and takes over runs for which no request waits: queued runs whose turn
// has come, runs that an earlier process left, and runs whose admission lost its answer. It waits while the
// store is down. Any other error is retried a few times, and then the run is ended by force, so that no run
// is left without a writer (RUN-12).
#include <boost/asio/post.hpp>

#include <chrono>
#include <iterator>
#include <utility>

#include "runnel/base/backoff.h"
#include "runnel/base/log/log.h"
#include "runnel/base/sleep.h"
#include "runnel/core/fact/fact_json.h"
#include "runnel/runtime/lifecycle/service.h"

namespace runnel::runtime {

namespace asio = boost::asio;

namespace {
constexpr std::size_t kPageBytes = 1 << 20;
constexpr int kMostTries = 3;
constexpr std::size_t kRecoveredAtOnce = 1000;
// If the store has answered for this long that it does not have an admission, the admission was never
// committed. Until then a database whose connection broke may still be working on it.
constexpr std::chrono::seconds kAdmitsSurface{15};
// While the store is down, each refused start is noted, up to this many. The first ones were under way when
// the store went down and may have been committed; that is unlikely for later ones.
constexpr std::size_t kMostLostAdmits = 10'000;

// Whether the run has ended, was deleted or is another node's, so that this process has nothing to do for it.
bool is_elsewhere(Error const& error) {
  return error.code == Errc::conflict || error.code == Errc::not_found || error.code == Errc::fenced;
}

// Plain functions: g++ 12 mishandles braces with strings in them inside a coroutine (CONTRIBUTING.md).
CallTrouble interrupted_too_often() {
  return {"RUN_INTERRUPTED", "the run was interrupted too often", "recovered too often"};
}
CallTrouble without_input() {
  return {"RUN_INTERRUPTED", "the run was interrupted", "its input cannot be read"};
}
}  // namespace

store::Async<std::vector<store::RunRow>> Service::unfinished() {
  std::vector<store::RunRow> runs;
  for (;;) {
    auto const after = runs.empty() ? RunKey{} : runs.back().key;
    auto page = co_await parts_.store.runs_to_recover(after, kRecoveredAtOnce);
    if (!page) co_return page.error();
    std::move(page->begin(), page->end(), std::back_inserter(runs));
    if (page->size() < kRecoveredAtOnce) co_return runs;
  }
}

void Service::recover(std::vector<store::RunRow> runs) {
  for (auto& row : runs) {
    if (row.last_n == 0) {
      spawn_pending(row.key);
    } else {
      spawn_taken_over(std::move(row), 0);
    }
  }
}

void Service::spawn_taken_over(store::RunRow row, std::int64_t failures) {
  auto live = go_live(row);
  auto const core = live.channel->context().get_executor();
  if (failures > options_.max_recoveries) {
    tasks_.spawn(core, "end run by force", force_end(std::move(row), std::move(live)));
  } else {
    tasks_.spawn(core, "take run over", run_taken_over(std::move(row), std::move(live), failures));
  }
}

void Service::spawn_pending(RunKey run) {
  auto const core = static_cast<std::size_t>(run.value) % parts_.cores.size();
  tasks_.spawn(parts_.cores.at(core).get_executor(), "begin queued run", begin_pending(run));
}

asio::awaitable<void> Service::begin_pending(RunKey run) {
  store::RunRow row;
  row.key = run;
  int tries = 0;
  for (base::Backoff backoff; tries < kMostTries;) {
    Result<void> begun = Error{Errc::internal, "it threw"};
    try {
      begun = co_await try_begin_pending(&row);
    } catch (std::exception const& error) {
      begun = Error{Errc::internal, error.what()};
    }
    if (begun) co_return;
    base::log(base::LogLevel::warn, "queued run does not begin",
              {{"run_id", row.id.text},
               {"thread_id", row.thread_id.text},
               {"run_row", run.value},
               {"detail", begun.error().detail}});
    if (is_elsewhere(begun.error())) co_return;
    if (begun.error().code != Errc::unavailable) ++tries;
    co_await base::sleep_for(backoff.next(), std::make_shared<base::Cancel>());
    if (draining()) co_return;
  }
  auto live = go_live(row);
  auto const core = live.channel->context().get_executor();
  tasks_.spawn(core, "end run by force", force_end(std::move(row), std::move(live)));
}

store::ClaimRequest Service::make_claim(RunKey run) const {
  return {run, options_.node, parts_.clock.now_ms(), std::nullopt};
}

asio::awaitable<Result<void>> Service::try_begin_pending(store::RunRow* row) {
  auto const run = row->key;
  auto found = co_await parts_.store.run_by_key(run);
  if (!found) co_return found.error();
  if (!*found || store::is_ended((*found)->status)) co_return Result<void>{};
  *row = **found;
  // A claim whose answer was lost has started the run.
  if (row->last_n > 0) {
    spawn_taken_over(*row, 0);
    co_return Result<void>{};
  }
  auto input = from_stored(row->input);
  if (!input) co_return input.error();
  if (parts_.flows.find(input->flow) == nullptr) input->flow = parts_.flows.default_name();

  // The run is the thread's active one, so nothing else opens or closes a call meanwhile.
  auto closings = co_await closings_of_queued(row, &*input);
  if (!closings) co_return closings.error();
  Claimed claimed;
  auto request = make_claim(run);
  request.begin = make_begin(row->id, *input, *closings, claimed.beginning);
  auto const now = request.now;
  auto const claim = co_await parts_.store.claim(std::move(request));
  if (!claim) co_return claim.error();
  claimed.row = std::move(**found);
  claimed.row.started_at = now;
  left_queue(claimed.row);
  claimed.input = std::move(*input);
  claimed.beginning.tail.set_epoch(claim->epoch);
  claimed.cancel_requested = claim->cancel_requested;
  let_go(std::move(claimed));
  co_return Result<void>{};
}

// The state of the run after its whole log.
asio::awaitable<Result<Service::Replayed>> Service::replay(RunKey run) {
  Replayed replayed;
  for (;;) {
    auto const rows = co_await parts_.store.read_log(run, replayed.last.n, kPageBytes);
    if (!rows) co_return rows.error();
    if (rows->empty()) co_return replayed;
    auto const before = replayed.last.n;
    for (auto const& row : *rows) {
      auto const records = parse_log_body(row.body, row.epoch);
      if (!records) co_return records.error();
      for (auto const& record : *records) {
        auto const accepted = replayed.order.accept(record.fact);
        if (!accepted) co_return accepted.error();
        replayed.last = record.position;
        replayed.last_ms = record.time_us / 1000;
      }
    }
    if (replayed.last.n <= before)
      co_return Error{Errc::internal, "the numbers of the log's facts do not increase"};
  }
}

// Runs on the core of the channel in `live`.
asio::awaitable<void> Service::run_taken_over(store::RunRow row, LiveRun live, std::int64_t failures) {
  int tries = 0;
  for (base::Backoff backoff; tries < kMostTries;) {
    Result<void> done = Error{Errc::internal, "it threw"};
    try {
      done = co_await take_over(row, live, failures);
    } catch (std::exception const& error) {
      done = Error{Errc::internal, error.what()};
    }
    if (done) co_return;
    base::log(base::LogLevel::error, "run is not recovered",
              {{"run_id", row.id.text}, {"thread_id", row.thread_id.text}, {"detail", done.error().detail}});
    if (is_elsewhere(done.error()) || live.cancel->reason() == base::CancelReason::shutdown) {
      live_.remove(row.key, live.cancel);
      co_return;
    }
    if (done.error().code != Errc::unavailable) ++tries;
    co_await base::sleep_for(backoff.next(), std::make_shared<base::Cancel>());
  }
  co_await force_end(std::move(row), std::move(live));
}

// A run whose writer failed in this process must not stay without one: it is taken over like a run that a
// dead process left, or ended by force if that has happened too often.
asio::awaitable<void> Service::take_over_again(store::RunRow row, std::int64_t failures) {
  for (int tries = 0; tries < kMostTries && !stopping_;) {
    co_await base::sleep_for(base::Backoff::kLongest, std::make_shared<base::Cancel>());
    auto found = co_await parts_.store.run_by_key(row.key);
    if (found && (!*found || store::is_ended((*found)->status))) co_return;
    if (found) {
      row = std::move(**found);
      break;
    }
    if (found.error().code != Errc::unavailable) ++tries;
  }
  if (!stopping_) spawn_taken_over(std::move(row), failures);
}

asio::awaitable<Result<void>> Service::take_over(store::RunRow row, LiveRun live, std::int64_t failures) {
  auto const claim = co_await parts_.store.claim(make_claim(row.key));
  if (!claim) co_return claim.error();
  auto found = co_await parts_.store.run_by_key(row.key);
  if (!found) co_return found.error();
  if (!*found) co_return Error{Errc::not_found, "the run is gone"};
  row = std::move(**found);
  auto replayed = co_await replay(row.key);
  if (!replayed) co_return replayed.error();
  if (replayed->last.n != claim->last_n)
    co_return Error{Errc::internal, "the log does not end at the last number in the run's row"};
  auto input = from_stored(row.input);
  std::optional<CallTrouble> give_up;
  if (claim->crashes > options_.max_recoveries) give_up = interrupted_too_often();
  if (!input) give_up = without_input();

  auto job = make_job(row, input ? std::move(*input) : RunInput{});
  if (approvals_) {
    auto const waited = co_await approvals_->waited(row.key);
    if (!waited) co_return waited.error();
    job.waited_ms = *waited;
  }
  auto trouble = co_await complete_reply(&job, row.thread_id, live.cancel);
  if (!trouble) co_return trouble.error();
  if (*trouble && !give_up) give_up = std::move(**trouble);
  bool const woken = replayed->order.paused();
  if (!woken) options_.metrics.taken_over.add();
  base::log(base::LogLevel::info, woken ? "run goes on after an approval" : "run taken over",
            {{"run_id", row.id.text}, {"thread_id", row.thread_id.text}, {"crashes", claim->crashes}});
  if (claim->cancel_requested) live.cancel->request(base::CancelReason::user);
  auto const writer = make_writer(
      live, RunWriter::Start{
                row.key, LogTail{claim->epoch, claim->last_n, claim->next_idx, std::move(replayed->order)}});
  writer->begin();
  Executor executor{run_parts(), writer, live.cancel, std::move(job), options_.metrics};
  Result<store::Ended> result = Error{Errc::internal, "the run threw"};
  try {
    WriterChanged const change{replayed->last.epoch, replayed->last.n};
    result = co_await executor.resume(change, replayed->last_ms, std::move(give_up));
  } catch (std::exception const& error) {
    result = Error{Errc::internal, error.what()};
  }
  co_await leave(row, {}, writer, std::move(result), failures);
  co_return Result<void>{};
}

void Service::look_for(store::AdmitRequest const& request) {
  LostAdmit lost{request.owner, request.thread, request.run, request.begin.facts.body, {}};
  asio::post(parts_.cores.at(0), [this, lost = std::move(lost)]() mutable {
    if (stopping_ || lost_admits_.size() == kMostLostAdmits) return;
    lost_admits_.push_back(std::move(lost));
    if (looking_) return;
    looking_ = true;
    tasks_.spawn(parts_.cores.at(0).get_executor(), "find lost admissions", find_lost_admits());
  });
}

// Runs on core 0. While the store is down, each round asks for one run only.
asio::awaitable<void> Service::find_lost_admits() {
  while (!lost_admits_.empty() && !stopping_) {
    co_await base::sleep_for(base::Backoff::kLongest, std::make_shared<base::Cancel>());
    for (auto left = lost_admits_.size(); left > 0 && !stopping_; --left) {
      auto lost = std::move(lost_admits_.front());
      lost_admits_.pop_front();
      Result<bool> done = Error{Errc::unavailable, "it threw"};
      try {
        done = co_await find_lost_admit(&lost);
      } catch (std::exception const& error) {
        base::log(base::LogLevel::error, "a lost admission is looked for again", {{"detail", error.what()}});
      }
      bool const is_down = !done && done.error().code == Errc::unavailable;
      if (is_down || (done && !*done)) lost_admits_.push_back(std::move(lost));
      if (is_down) break;
    }
  }
  looking_ = false;
}

// Takes a run over only if this very request admitted it and it is still as its admission left it. Any other
// run has had a writer, or gets one when its turn comes.
asio::awaitable<Result<bool>> Service::find_lost_admit(LostAdmit* lost) {
  auto found = co_await parts_.store.find_run(lost->owner, lost->thread, lost->run);
  if (!found) co_return found.error();
  if (!*found) {
    auto const now = std::chrono::steady_clock::now();
    if (!lost->missing_since) lost->missing_since = now;
    co_return now - *lost->missing_since > kAdmitsSurface;
  }
  auto& row = **found;
  if (row.status != store::RunStatus::running || row.epochs.size() != 1) co_return true;
  auto const log = co_await parts_.store.read_log(row.key, 0, 1);
  if (!log) co_return log.error();
  if (log->empty() || log->front().body != lost->first_facts) co_return true;
  options_.metrics.admitted.add();
  spawn_taken_over(std::move(row), 0);
  co_return true;
}

// Called when the writer is done with the run, whether the run has ended or not.
asio::awaitable<void> Service::leave(store::RunRow row, std::string request_id,
                                     std::shared_ptr<RunWriter> writer, Result<store::Ended> result,
                                     std::int64_t failures) {
  co_await writer->close();
  if (!result && stopping_ && result.error().code != Errc::fenced) {
    // A planned stop is no crash (RUN-12). If the store does not accept the release, the stop counts as one.
    auto const released = co_await parts_.store.release(row.key, writer->epoch());
    if (!released) {
      base::log(
          base::LogLevel::warn, "run is not released",
          {{"run_id", row.id.text}, {"thread_id", row.thread_id.text}, {"detail", released.error().detail}});
    }
  }
  ended(row, request_id, *writer, std::move(result), failures);
}

}  // namespace runnel::runtime
