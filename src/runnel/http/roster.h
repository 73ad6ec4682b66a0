#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/intrusive/list.hpp>

#include <chrono>
#include <cstdint>

#include "runnel/http/http_metrics.h"
#include "runnel/http/limits.h"

namespace runnel::http {

// Something open on one core: a connection, or the SSE session that it became.
class Member : public boost::intrusive::list_base_hook<> {
 public:
  Member() = default;
  Member(Member const&) = delete;
  Member& operator=(Member const&) = delete;

  virtual void on_tick() = 0;
  // The server drains: a stream closes so that its client reconnects elsewhere; other answers go on.
  virtual void end_stream() = 0;
  // The server stops: leave the roster soon.
  virtual void stop() = 0;

 protected:
  ~Member() = default;
};

// All that is open on one core, looked after by one timer: keep-alives, deadlines and the stop cost an idle
// connection no timer of its own. Touched by its core's thread alone.
class Roster {
 public:
  // `metrics` outlives it.
  Roster(boost::asio::io_context& context, Limits const& limits, HttpMetrics const& metrics,
         base::Histogram lag);
  Roster(Roster const&) = delete;
  Roster& operator=(Roster const&) = delete;

  // Ticks until `stop` was called and the last member has left.
  boost::asio::awaitable<void> run();

  void enter(Member& member);
  void leave(Member& member);

  void end_streams();
  void stop();

  [[nodiscard]] boost::asio::io_context& context() { return context_; }
  [[nodiscard]] Limits const& limits() const { return limits_; }
  [[nodiscard]] HttpMetrics const& metrics() const { return metrics_; }
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] bool stopping() const { return stopping_; }

  // Milliseconds at the last tick; it wraps, so only differences mean anything.
  [[nodiscard]] std::uint32_t now() const { return now_; }
  // Whether `duration` has passed since `then`, a value of now().
  [[nodiscard]] bool passed(std::chrono::milliseconds duration, std::uint32_t then) const {
    return now_ - then >= static_cast<std::uint32_t>(duration.count());
  }

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>,
                                                  boost::asio::io_context::executor_type>;
  using Members = boost::intrusive::list<Member, boost::intrusive::constant_time_size<false>>;

  void for_each(void (Member::*call)());

  boost::asio::io_context& context_;
  Limits const limits_;
  HttpMetrics const& metrics_;
  base::Histogram const lag_;
  Timer timer_;
  Members members_;
  std::uint32_t now_ = 0;
  bool draining_ = false;
  bool stopping_ = false;
};

}  // namespace runnel::http
