#include "runnel/http/connection/core_sessions.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace runnel::http {

namespace asio = boost::asio;

namespace {
std::uint32_t clock_ms() {
  using namespace std::chrono;
  return static_cast<std::uint32_t>(
      duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
}
}  // namespace

CoreSessions::CoreSessions(asio::io_context& context, Limits const& limits, HttpMetrics const& metrics,
                           base::Histogram lag, base::TaskGroup& tasks)
    : context_{context},
      limits_{limits},
      metrics_{metrics},
      lag_{lag},
      tasks_{tasks},
      timer_{context},
      now_{clock_ms()} {}

asio::awaitable<void> CoreSessions::run() {
  while (!stopping_ || !open_.empty()) {
    timer_.expires_after(limits_.tick);
    auto const [canceled] = co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!canceled) lag_.observe(std::chrono::steady_clock::now() - timer_.expiry());
    now_ = clock_ms();
    for_each(&Session::on_tick);
  }
}

std::chrono::milliseconds CoreSessions::since_tick() const {
  return std::chrono::milliseconds{clock_ms() - now_};
}

void CoreSessions::enter(Session& session) {
  open_.push_back(session);
}

void CoreSessions::leave(Session& session) {
  open_.erase(open_.iterator_to(session));
  if (stopping_ && open_.empty()) timer_.cancel();
}

void CoreSessions::end_streams() {
  draining_ = true;
  for_each(&Session::end_stream);
}

void CoreSessions::stop() {
  draining_ = true;
  stopping_ = true;
  for_each(&Session::stop);
  timer_.cancel();
}

void CoreSessions::spawn(char const* what, asio::awaitable<void> work) {
  tasks_.spawn(context_.get_executor(), what, std::move(work));
}

// A call may make its session leave, and other sessions with it.
void CoreSessions::for_each(void (Session::*call)()) {
  Sessions pending;
  pending.swap(open_);
  while (!pending.empty()) {
    auto& session = pending.front();
    pending.pop_front();
    open_.push_back(session);
    (session.*call)();
  }
}

}  // namespace runnel::http
