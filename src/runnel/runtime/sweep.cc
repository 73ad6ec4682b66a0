#include <boost/asio/post.hpp>

#include <utility>

#include "runnel/base/log.h"
#include "runnel/base/sleep.h"
#include "runnel/runtime/service.h"
#include "runnel/runtime/sweep_clock.h"

// What the service does beside its runs: expired and deleted things go, a piece at a time.
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

// The time by which things expire. A wall clock that jumps ahead makes nothing old at once.
std::int64_t time_of_sweep(SweepClock& clock, std::int64_t wall) {
  bool const was_ahead = clock.is_ahead();
  auto const now = clock.now(wall, milliseconds_since_boot());
  if (clock.is_ahead() && !was_ahead) {
    base::log(base::LogLevel::error,
              "the clock has jumped ahead: no log is deleted for it until it has stood there for a day",
              {{"ahead_ms", wall - now}});
  }
  return now;
}

}  // namespace

void Service::start_sweeping() {
  tasks_.spawn(parts_.cores.at(0).get_executor(), "sweep", sweep());
}

void Service::sweep_soon() {
  asio::post(parts_.cores.at(0), [this] {
    sweep_again_ = true;
    if (nap_) nap_->request(CancelReason::user);
  });
}

// In pieces that are short enough for whoever waits behind one.
asio::awaitable<void> Service::sweep() {
  constexpr std::size_t kRunsAtOnce = 100;
  constexpr std::size_t kTicketsAtOnce = 100;
  store::PieceSize const piece;
  SweepClock clock;
  for (bool go_on = true; go_on;) {
    sweep_again_ = false;
    auto const now = time_of_sweep(clock, parts_.clock.now_ms());
    auto const before = now - std::chrono::milliseconds{options_.event_retention}.count();
    auto const logs = co_await parts_.store.expire_logs(before, kRunsAtOnce);
    tell_if_failed("events", logs);
    auto const tickets = co_await parts_.store.expire_tickets(now, kTicketsAtOnce);
    tell_if_failed("tickets", tickets);
    auto const rows = co_await parts_.store.purge(piece);
    tell_if_failed("rows of what was deleted", rows);
    bool const more =
        (logs && *logs == kRunsAtOnce) || (tickets && *tickets == kTicketsAtOnce) || (rows && *rows > 0);
    if (more && !stopping_) continue;
    go_on = co_await nap();
  }
}

// Until the next sweep; false: there is none.
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
