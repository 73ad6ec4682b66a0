// The part of the service that lets waiting runs go on: when they are answered, overdue, or canceled. Each of
// these makes a run pending in the store first, so that recovery continues it if this process ends before it
// does.
#include <exception>
#include <set>
#include <string>
#include <utility>

#include "runnel/base/log/log.h"
#include "runnel/base/sleep.h"
#include "runnel/runtime/lifecycle/service.h"

namespace runnel::runtime {

namespace asio = boost::asio;

namespace {
constexpr std::size_t kWokenAtOnce = 100;

Error no_approvals() {
  return {Errc::internal, "this service has no approvals"};
}
}  // namespace

store::Async<store::AnswerOutcome> Service::answer(store::ApprovalAnswer answer) {
  if (!approvals_) co_return no_approvals();
  auto const outcome = co_await approvals_->answer(std::move(answer));
  using Kind = store::AnswerOutcome::Kind;
  // The answer to an earlier request may have been lost after it was written.
  bool const decided = outcome && (outcome->kind == Kind::accepted || outcome->kind == Kind::already_decided);
  if (decided) wake(outcome->run);
  co_return outcome;
}

store::Async<std::vector<store::WaitingApproval>> Service::approvals_of(UserId owner, std::size_t limit) {
  if (!approvals_) co_return std::vector<store::WaitingApproval>{};
  co_return co_await approvals_->waiting_for(std::move(owner), limit);
}

// While the server drains, the run is left to the next process.
void Service::wake(RunKey run) {
  if (draining()) return;
  tasks_.spawn(parts_.cores.at(0).get_executor(), "continue run", continue_woken(run));
}

asio::awaitable<void> Service::continue_woken(RunKey run) {
  auto found = co_await parts_.store.run_by_key(run);
  while (!found && found.error().code == Errc::unavailable && !draining()) {
    co_await base::sleep_for(options_.approval_interval, std::make_shared<base::Cancel>());
    found = co_await parts_.store.run_by_key(run);
  }
  if (!found) {
    base::log(base::LogLevel::error, "run does not go on",
              {{"run_row", run.value}, {"detail", found.error().detail}});
    co_return;
  }
  bool const is_due = *found && (*found)->status == store::RunStatus::pending;
  if (!is_due || draining() || live_.has(run)) co_return;
  spawn_taken_over(std::move(**found), 0);
}

void Service::wake_if_canceled(RunKey run) {
  if (!approvals_ || draining()) return;
  tasks_.spawn(parts_.cores.at(0).get_executor(), "wake canceled run", try_wake_canceled(run));
}

// If this fails, watch_approvals() finds the run.
asio::awaitable<void> Service::try_wake_canceled(RunKey run) {
  auto const woken = co_await approvals_->wake_canceled(run);
  if (woken && *woken) wake(run);
}

asio::awaitable<void> Service::watch_approvals() {
  std::set<RunKey> pending;
  for (;;) {
    bool const slept = co_await base::sleep_for(options_.approval_interval, sweep_cancel_);
    if (!slept) co_return;
    std::string failure;
    try {
      auto const looked = co_await look_for_due(&pending);
      if (!looked) failure = looked.error().detail;
    } catch (std::exception const& error) {
      failure = error.what();
    }
    if (failure.empty()) continue;
    base::log(base::LogLevel::warn, "overdue approvals are not looked for", {{"detail", failure}});
  }
}

// `pending` are the runs that were pending at the last look. One that still is, and that nobody here
// continues, was woken by a write whose answer was lost.
asio::awaitable<Result<void>> Service::look_for_due(std::set<RunKey>* pending) {
  auto const woken = co_await approvals_->wake_due(parts_.clock.now_ms(), kWokenAtOnce);
  if (!woken) co_return woken.error();
  for (auto const run : *woken)
    wake(run);
  auto const now_pending = co_await approvals_->pending_again(kWokenAtOnce);
  if (!now_pending) co_return now_pending.error();
  for (auto const run : *now_pending) {
    if (pending->contains(run) && !live_.has(run)) wake(run);
  }
  *pending = {now_pending->begin(), now_pending->end()};
  co_return Result<void>{};
}

}  // namespace runnel::runtime
