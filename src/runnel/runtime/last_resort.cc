// The part of the service that ends runs which no writer can go on with, because their log or input cannot be
// read, or because every try to go on fails (RUN-12). Nobody knows what is open in such a log, so that no
// reader could be shown a whole one: it counts as expired, and the history has what is left.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "runnel/base/log.h"
#include "runnel/base/sleep.h"
#include "runnel/runtime/log_batch.h"
#include "runnel/runtime/service.h"

namespace runnel::runtime {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kFirstEndWait{50};
constexpr milliseconds kLongestEndWait{1000};
constexpr int kMostEndTries = 5;

// Plain functions: g++ 12 mishandles braces with strings in them inside a coroutine (CONTRIBUTING.md).
Fact interrupted(std::string const& error_id, std::vector<Usage> const& usage) {
  return RunFailed{"the run was interrupted, and what is stored of it cannot be read", "RUN_INTERRUPTED",
                   error_id, usage};
}

RunEnd interrupted_end() {
  return RunEnd{store::RunStatus::failed, "RUN_INTERRUPTED", mint_uuid()};
}

RunEnd end_of(store::EndRequest const& request) {
  return RunEnd{request.status, request.error_code, request.error_id};
}

// Whether this request is for the run as it is.
bool fits(std::optional<store::ForceEndRequest> const& request, store::LogEnd const& seen) {
  return request && request->seen_epoch == seen.epoch && request->end.append.facts.first_n == seen.last_n + 1;
}

std::vector<Fact> last_facts(store::LogEnd const& seen, Fact terminal) {
  std::vector<Fact> facts;
  if (seen.last_n == 0) {
    facts.emplace_back(RunStarted{});
  } else {
    facts.emplace_back(WriterChanged{seen.epoch, seen.last_n});
  }
  facts.push_back(std::move(terminal));
  return facts;
}

}  // namespace

// What the run's calls have used and no row has: booked on one that nobody sees (I4).
asio::awaitable<Result<Service::LastAccounts>> Service::last_accounts(RunKey run, Epoch epoch,
                                                                      std::shared_ptr<base::Cancel> cancel) {
  CallBook book{parts_.store, parts_.clock, std::move(cancel), make_terms({}, {}), options_.metrics,
                run,          epoch};
  Said const said;
  auto left = co_await book.take_over(said);
  if (!left) co_return left.error();
  LastAccounts accounts;
  accounts.rows = std::move(left->rows);
  if (book.has_unbooked()) {
    auto row = audit_row("", "", to_string(store::CallStatus::interrupted));
    auto const summary = book.book(row.id, accounts.rows);
    charge(row, summary, book.last_provider(), book.last_model());
    accounts.rows.messages.push_back(std::move(row));
  }
  accounts.usage = book.booked();
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
  append.facts = make_batch(seen.last_n + 1, seen.next_idx, parts_.clock.now_us(),
                            last_facts(seen, interrupted(end.error_id, accounts.usage)));
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
  // An end whose answer was lost is asked for once more, unchanged: only its answer names the run that was
  // promoted, and it may be written meanwhile.
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

// On the core of the channel. A store that is down is waited for; anything else that goes wrong is tried
// again a few times, and then without the accounts: a run that ends is worth more than its last row.
asio::awaitable<void> Service::force_end(store::RunRow row, LiveRun live) {
  int tries = 0;
  bool with_accounts = true;
  bool ended = false;
  std::optional<store::ForceEndRequest> sent;
  for (auto pause = kFirstEndWait; tries < kMostEndTries && !stopping_;
       pause = std::min(pause * 2, kLongestEndWait)) {
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
      sent.reset();  // It was refused.
    }
    if (done.error().code != Errc::unavailable && done.error().code != Errc::conflict) with_accounts = false;
    co_await base::sleep_for(pause, std::make_shared<base::Cancel>());  // A user's cancel does not hurry it.
  }
  // Where it could not be ended, readers are not sent to an end that is not there.
  if (ended) {
    live.channel->retire();
  } else {
    live.channel->hold();
  }
  live_.remove(row.key);
}

}  // namespace runnel::runtime
