#include "runnel/http/roster.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace runnel::http {

namespace asio = boost::asio;

namespace {
std::uint32_t clock_ms() {
  using namespace std::chrono;
  return static_cast<std::uint32_t>(
      duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
}
}  // namespace

Roster::Roster(asio::io_context& context, Limits const& limits, HttpMetrics const& metrics,
               base::Histogram lag)
    : context_{context}, limits_{limits}, metrics_{metrics}, lag_{lag}, timer_{context}, now_{clock_ms()} {}

asio::awaitable<void> Roster::run() {
  while (!stopping_ || !members_.empty()) {
    timer_.expires_after(limits_.tick);
    auto const [canceled] = co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!canceled) lag_.observe(std::chrono::steady_clock::now() - timer_.expiry());
    now_ = clock_ms();
    for_each(&Member::on_tick);
  }
}

void Roster::enter(Member& member) {
  members_.push_back(member);
}

void Roster::leave(Member& member) {
  members_.erase(members_.iterator_to(member));
  if (stopping_ && members_.empty()) timer_.cancel();
}

void Roster::end_streams() {
  draining_ = true;
  for_each(&Member::end_stream);
}

void Roster::stop() {
  draining_ = true;
  stopping_ = true;
  for_each(&Member::stop);
  timer_.cancel();
}

// A call may make its member leave, and with it others.
void Roster::for_each(void (Member::*call)()) {
  Members pending;
  pending.swap(members_);
  while (!pending.empty()) {
    auto& member = pending.front();
    pending.pop_front();
    members_.push_back(member);
    (member.*call)();
  }
}

}  // namespace runnel::http
