#include <boost/asio/post.hpp>

#include <utility>

#include "runnel/base/log/log.h"
#include "runnel/base/sleep.h"
#include "runnel/runtime/lifecycle/service.h"
#include "runnel/runtime/lifecycle/sweep_clock.h"

// The part of the service that deletes expired logs and the rows of deleted threads, one piece at a time.
namespace runnel::runtime {

namespace asio = boost::asio;
using base::CancelReason;

namespace {

template <class T>
void tell_if_failed(char const* what, Result<T> const& deleted) {
  if (deleted) return;
  base::log(base::LogLevel::warn, "expired rows are not deleted",
            {{"what", what}, {"detail", deleted.error().detail}});
}

// The time that decides what has expired. If the wall clock jumps ahead, nothing expires at once.
std::int64_t time_of_sweep(SweepClock& clock, std::int64_t wall) {
  bool const was_ahead = clock.is_ahead();
  auto const now = clock.now(wall, milliseconds_since_boot());
  if (clock.is_ahead() && !was_ahead) {
    base::log(base::LogLevel::error,
              "the clock has jumped ahead: no log is deleted because of that until the jump has lasted a day",
              {{"ahead_ms", wall - now}});
  }
  return now;
}

}  // namespace

void Service::start_sweeping() {
  tasks_.spawn(parts_.cores.at(0).get_executor(), "sweep", sweep());
  if (approvals_) tasks_.spawn(parts_.cores.at(0).get_executor(), "watch approvals", watch_approvals());
}

void Service::sweep_soon() {
  asio::post(parts_.cores.at(0), [this] {
    sweep_again_ = true;
    if (nap_) nap_->request(CancelReason::user);
  });
}

// Deletes in pieces, so that no other operation of the store waits long behind one.
asio::awaitable<void> Service::sweep() {
  constexpr std::size_t kRunsAtOnce = 100;
  store::PieceSize const piece;
  SweepClock clock;
  for (bool go_on = true; go_on;) {
    sweep_again_ = false;
    auto const now = time_of_sweep(clock, parts_.clock.now_ms());
    auto const before = now - std::chrono::milliseconds{options_.event_retention}.count();
    auto const logs = co_await parts_.store.expire_logs(before, kRunsAtOnce);
    tell_if_failed("events", logs);
    auto const rows = co_await parts_.store.purge(piece);
    tell_if_failed("rows of what was deleted", rows);
    bool const more = (logs && *logs == kRunsAtOnce) || (rows && *rows > 0);
    if (more && !stopping_) continue;
    go_on = co_await nap();
  }
}

// Sleeps until the next sweep. Returns false if there is none.
asio::awaitable<bool> Service::nap() {
  if (sweep_cancel_->requested()) co_return false;
  if (sweep_again_) co_return true;
  nap_ = std::make_shared<base::Cancel>();
  base::Cancel::Registration const stop{*sweep_cancel_, [this] { nap_->request(CancelReason::shutdown); }};
  co_await base::sleep_for(options_.sweep_interval, nap_);
  nap_.reset();
  co_return !sweep_cancel_->requested();
}

}  // namespace runnel::runtime
