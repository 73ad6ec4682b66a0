// The part of the service that begins and takes over runs which no request is waiting for: queued ones whose
// turn has come, and those that an earlier process left.
#include <algorithm>
#include <chrono>
#include <utility>

#include "runnel/base/log.h"
#include "runnel/base/sleep.h"
#include "runnel/core/fact_json.h"
#include "runnel/runtime/service.h"

namespace runnel::runtime {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {
constexpr std::size_t kPageBytes = 1 << 20;
constexpr milliseconds kFirstWait{50};
constexpr milliseconds kLongestWait{1000};

bool may_pass(Result<void> const& result) {
  return !result && result.error().code == Errc::unavailable;
}
}  // namespace

void Service::recover(std::vector<store::RunRow> runs) {
  for (auto& row : runs) {
    if (row.last_n == 0) {
      spawn_pending(row.key);
    } else {
      auto live = go_live(row.key, RunNames{row.thread_id, row.id});
      auto const core = live.channel->context().get_executor();
      tasks_.spawn(core, "recover run", run_taken_over(std::move(row), std::move(live)));
    }
  }
}

void Service::spawn_pending(RunKey run) {
  auto const core = static_cast<std::size_t>(run.value) % parts_.cores.size();
  tasks_.spawn(parts_.cores.at(core).get_executor(), "begin queued run", begin_pending(run));
}

asio::awaitable<void> Service::begin_pending(RunKey run) {
  RunNames names;
  for (auto pause = kFirstWait;; pause = std::min(pause * 2, kLongestWait)) {
    auto const begun = co_await try_begin_pending(run, &names);
    if (begun) co_return;
    base::log(base::LogLevel::warn, "queued run does not begin",
              {{"run_id", names.run.text},
               {"thread_id", names.thread.text},
               {"run_row", run.value},
               {"detail", begun.error().detail}});
    if (!may_pass(begun)) co_return;
    co_await base::sleep_for(pause, std::make_shared<base::Cancel>());
    if (draining()) co_return;
  }
}

store::ClaimRequest Service::make_claim(RunKey run) const {
  return {run, options_.node, parts_.clock.now_ms(), std::nullopt};
}

asio::awaitable<Result<void>> Service::try_begin_pending(RunKey run, RunNames* names) {
  auto row = co_await parts_.store.run_by_key(run);
  if (!row) co_return row.error();
  if (!*row || store::is_ended((*row)->status)) co_return Result<void>{};
  *names = RunNames{(*row)->thread_id, (*row)->id};
  auto input = from_stored((*row)->input);
  if (!input) co_return input.error();
  if (parts_.flows.find(input->flow) == nullptr) input->flow = parts_.flows.default_name();

  Claimed claimed;
  auto request = make_claim(run);
  request.begin = make_begin((*row)->id, *input, claimed.begun);
  auto const now = request.now;
  auto const claim = co_await parts_.store.claim(std::move(request));
  if (!claim) co_return claim.error();
  claimed.row = std::move(**row);
  claimed.row.started_at = now;
  left_queue(claimed.row);
  claimed.input = std::move(*input);
  claimed.epoch = claim->epoch;
  claimed.cancel_requested = claim->cancel_requested;
  let_go(std::move(claimed));
  co_return Result<void>{};
}

// The state of the run after all that its log holds.
asio::awaitable<Result<Service::Replayed>> Service::replay(RunKey run) {
  Replayed replayed;
  for (;;) {
    auto const rows = co_await parts_.store.read_log(run, replayed.last.n, kPageBytes);
    if (!rows) co_return rows.error();
    if (rows->empty()) co_return replayed;
    for (auto const& row : *rows) {
      auto const records = parse_log_body(row.body, row.epoch);
      if (!records) co_return records.error();
      for (auto const& record : *records) {
        auto const accepted = replayed.order.accept(record.fact);
        if (!accepted) co_return accepted.error();
        replayed.last = record.position;
      }
    }
  }
}

// On the core of the channel that it holds.
asio::awaitable<void> Service::run_taken_over(store::RunRow row, LiveRun live) {
  for (auto pause = kFirstWait;; pause = std::min(pause * 2, kLongestWait)) {
    auto const done = co_await take_over(row, live);
    if (done) co_return;
    base::log(base::LogLevel::error, "run is not recovered",
              {{"run_id", row.id.text}, {"thread_id", row.thread_id.text}, {"detail", done.error().detail}});
    if (!may_pass(done) || live.cancel->reason() == base::CancelReason::shutdown) break;
    co_await base::sleep_for(pause, std::make_shared<base::Cancel>());
  }
  live_.remove(row.key);
}

// A run whose writer failed here must not stay without one: it is taken over like one that a dead process
// left.
asio::awaitable<void> Service::take_over_again(RunKey run) {
  Result<std::optional<store::RunRow>> row = Error{Errc::unavailable, "not asked yet"};
  while (!row && row.error().code == Errc::unavailable && !stopping_) {
    co_await base::sleep_for(kLongestWait, std::make_shared<base::Cancel>());
    row = co_await parts_.store.run_by_key(run);
  }
  if (stopping_ || !row || !*row || store::is_ended((*row)->status)) co_return;
  auto live = go_live(run, RunNames{(*row)->thread_id, (*row)->id});
  auto const core = live.channel->context().get_executor();
  tasks_.spawn(core, "take run over again", run_taken_over(std::move(**row), std::move(live)));
}

asio::awaitable<Result<void>> Service::take_over(store::RunRow row, LiveRun live) {
  auto const claim = co_await parts_.store.claim(make_claim(row.key));
  if (!claim) co_return claim.error();
  auto replayed = co_await replay(row.key);
  if (!replayed) co_return replayed.error();
  if (replayed->last.n != claim->last_n)
    co_return Error{Errc::internal, "the log does not end where the run does"};
  auto input = from_stored(row.input);
  if (!input) co_return input.error();

  options_.metrics.taken_over.add();
  base::log(base::LogLevel::info, "run taken over",
            {{"run_id", row.id.text}, {"thread_id", row.thread_id.text}});
  live.channel->begin_epoch(claim->epoch, claim->last_n);
  if (claim->cancel_requested) live.cancel->request(base::CancelReason::user);
  bool const give_up = replayed->order.writer_changes() >= options_.max_recoveries;
  auto const writer = make_writer(live, RunWriter::Start{row.key, claim->epoch, claim->last_n,
                                                         claim->next_idx, std::move(replayed->order)});
  Executor executor{run_parts(), writer, live.cancel, make_job(row, std::move(*input)), options_.metrics};
  Result<store::Ended> result = Error{Errc::internal, "the run threw"};
  try {
    result = co_await executor.resume(WriterChanged{replayed->last.epoch, replayed->last.n}, give_up);
  } catch (std::exception const& error) {
    result = Error{Errc::internal, error.what()};
  }
  co_await writer->close();
  ended(row, {}, *writer, std::move(result));
  co_return Result<void>{};
}

}  // namespace runnel::runtime
