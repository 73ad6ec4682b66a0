// The part of the service that ends runs which no writer can continue, because their log or input cannot be
// read, or because every try to continue fails (RUN-12). It is unknown what is open in such a log, so no
// reader can be shown a complete one: the log counts as expired, and the history has what is left.
#include <optional>
#include <utility>

#include "runnel/base/backoff.h"
#include "runnel/base/log/log.h"
#include "runnel/base/sleep.h"
#include "runnel/runtime/lifecycle/service.h"
#include "runnel/runtime/writing/log_tail.h"

namespace runnel::runtime {

namespace asio = boost::asio;

namespace {

constexpr int kMostEndTries = 5;

// Plain functions: g++ 12 mishandles braces with strings in them inside a coroutine (CONTRIBUTING.md).
Fact interrupted(std::string const& error_id, std::vector<Usage> const& usage) {
  return RunFailed{"the run was interrupted, and its stored data cannot be read", "RUN_INTERRUPTED", error_id,
                   usage};
}

RunEnd interrupted_end() {
  return RunEnd{store::RunStatus::failed, "RUN_INTERRUPTED", mint_uuid()};
}

RunEnd end_of(store::EndRequest const& request) {
  return RunEnd{request.status, request.error_code, request.error_id};
}

// Whether this request matches the current state of the run.
bool fits(std::optional<store::ForceEndRequest> const& request, store::LogEnd const& seen) {
  return request && request->seen_epoch == seen.epoch && request->end.append.facts.first_n == seen.last_n + 1;
}

store::LogBatch last_facts(store::LogEnd const& seen, Fact terminal, std::int64_t now_us) {
  bool const is_new = seen.last_n == 0;
  auto tail = is_new ? LogTail{} : LogTail::of_unreadable(seen.last_n, seen.next_idx);
  tail.add(is_new ? Fact{RunStarted{}} : Fact{WriterChanged{seen.epoch, seen.last_n}}, now_us).value();
  tail.add(std::move(terminal), now_us).value();
  return tail.take();
}

}  // namespace

// Books what the run's calls have used, as far as it is on no row yet, on a row that nobody sees (I4).
asio::awaitable<Result<Service::LastAccounts>> Service::last_accounts(RunKey run, Epoch epoch,
                                                                      std::shared_ptr<base::Cancel> cancel) {
  RunLedger ledger{parts_.store, parts_.clock, std::move(cancel), make_terms({}, {}), options_.metrics,
                   run,          epoch};
  Said const said;
  auto left = co_await ledger.take_over(said);
  if (!left) co_return left.error();
  LastAccounts accounts;
  accounts.rows = std::move(left->rows);
  if (ledger.has_unbooked())
    ledger.book_on_audit_row("", "", to_string(store::CallStatus::interrupted), accounts.rows);
  accounts.usage = ledger.booked();
  co_return accounts;
}

store::ForceEndRequest Service::make_force_end(RunKey run, store::LogEnd const& seen, LastAccounts accounts,
                                               RunEnd const& end) const {
  store::ForceEndRequest request;
  request.node = options_.node;
  request.seen_epoch = seen.epoch;
  request.log_is_lost = seen.last_n > 0;
  request.end.status = end.status;
  request.end.error_code = end.error_code;
  request.end.error_id = end.error_id;
  auto& append = request.end.append;
  append.run = run;
  append.now = parts_.clock.now_ms();
  append.facts = last_facts(seen, interrupted(end.error_id, accounts.usage), parts_.clock.now_us());
  append.messages = std::move(accounts.rows.messages);
  append.call_ends = std::move(accounts.rows.call_ends);
  append.bookings = std::move(accounts.rows.bookings);
  return request;
}

asio::awaitable<Result<void>> Service::try_force_end(store::RunRow row, LiveRun live, bool with_accounts,
                                                     std::optional<store::ForceEndRequest>* sent) {
  auto const seen = co_await parts_.store.log_end(row.key);
  if (!seen && seen.error().code == Errc::not_found) co_return Result<void>{};
  if (!seen) co_return seen.error();
  bool const has_ended = store::is_ended(seen->status);
  if (has_ended && !*sent) co_return Result<void>{};
  // If the answer to an end was lost, the same request is sent again: only its answer names the run that was
  // promoted, and the end may have been written in the meantime.
  if (!has_ended && !fits(*sent, *seen)) {
    Result<LastAccounts> accounts = LastAccounts{};
    if (with_accounts) accounts = co_await last_accounts(row.key, seen->epoch, live.cancel);
    if (!accounts) co_return accounts.error();
    *sent = make_force_end(row.key, *seen, std::move(*accounts), interrupted_end());
  }
  auto const ended = co_await parts_.store.force_end(**sent);
  if (!ended && has_ended && ended.error().code == Errc::conflict) co_return Result<void>{};
  if (!ended) co_return ended.error();
  if ((*sent)->end.append.facts.first_n == 1) left_queue(row);
  options_.metrics.facts.add(2);
  tell_end(row, {}, end_of((*sent)->end));
  if (ended->promoted && !draining()) spawn_pending(*ended->promoted);
  co_return Result<void>{};
}

// Runs on the channel's core. Waits while the store is down. Any other error is retried a few times, without
// the accounts unless it was a conflict: ending the run matters more than its last row.
asio::awaitable<void> Service::force_end(store::RunRow row, LiveRun live) {
  int tries = 0;
  bool with_accounts = true;
  bool ended = false;
  std::optional<store::ForceEndRequest> sent;
  for (base::Backoff backoff; tries < kMostEndTries && !stopping_;) {
    Result<void> done = Error{Errc::internal, "it threw"};
    try {
      done = co_await try_force_end(row, live, with_accounts, &sent);
    } catch (std::exception const& error) {
      done = Error{Errc::internal, error.what()};
    }
    ended = done.has_value();
    if (ended) break;
    base::log(base::LogLevel::error, "run cannot be ended",
              {{"run_id", row.id.text},
               {"thread_id", row.thread_id.text},
               {"run_row", row.key.value},
               {"detail", done.error().detail}});
    if (done.error().code != Errc::unavailable) {
      ++tries;
      sent.reset();  // The store refused it.
    }
    if (done.error().code != Errc::unavailable && done.error().code != Errc::conflict) with_accounts = false;
    // A user's cancel does not shorten the pause.
    co_await base::sleep_for(backoff.next(), std::make_shared<base::Cancel>());
  }
  // If the run could not be ended, readers wait: there is no end that they could be sent to.
  if (ended) {
    parts_.hub.threads().tell(row.thread);
    live.channel->retire();
  } else {
    live.channel->hold();
  }
  live_.remove(row.key, live.cancel);
}

}  // namespace runnel::runtime
