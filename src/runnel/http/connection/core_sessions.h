#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/intrusive/list.hpp>

#include <chrono>
#include <cstdint>

#include "runnel/base/task_group.h"
#include "runnel/http/connection/limits.h"
#include "runnel/http/http_metrics.h"

namespace runnel::http {

// Something that is open on one core: a connection, or the SSE session that a connection has become.
class Session : public boost::intrusive::list_base_hook<> {
 public:
  Session() = default;
  Session(Session const&) = delete;
  Session& operator=(Session const&) = delete;

  virtual void on_tick() = 0;
  // The server is draining: a stream closes so that its client reconnects elsewhere; other answers continue.
  virtual void end_stream() = 0;
  // The server is stopping: the session must end soon.
  virtual void stop() = 0;

 protected:
  ~Session() = default;
};

// Everything that is open on one core. One timer serves all sessions, so keep-alives, deadlines and the stop
// cost an idle connection no timer of its own. Only the core's thread uses it.
class CoreSessions {
 public:
  // `metrics` and `tasks` outlive it.
  CoreSessions(boost::asio::io_context& context, Limits const& limits, HttpMetrics const& metrics,
               base::Histogram lag, base::TaskGroup& tasks);
  CoreSessions(CoreSessions const&) = delete;
  CoreSessions& operator=(CoreSessions const&) = delete;

  // Ticks until `stop` has been called and the last session has left.
  boost::asio::awaitable<void> run();

  void enter(Session& session);
  void leave(Session& session);

  void end_streams();
  void stop();

  // Runs work of a session on this core. The server waits for it before it has stopped.
  void spawn(char const* what, boost::asio::awaitable<void> work);

  [[nodiscard]] boost::asio::io_context& context() { return context_; }
  [[nodiscard]] Limits const& limits() const { return limits_; }
  [[nodiscard]] HttpMetrics const& metrics() const { return metrics_; }
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] bool stopping() const { return stopping_; }

  // The time of the last tick in milliseconds. It wraps around, so only differences are meaningful.
  [[nodiscard]] std::uint32_t now() const { return now_; }
  // How long ago the last tick was. A time from here on is this much longer when it is counted from now().
  [[nodiscard]] std::chrono::milliseconds since_tick() const;
  // Whether `duration` has passed since `then`, a value of now().
  [[nodiscard]] bool passed(std::chrono::milliseconds duration, std::uint32_t then) const {
    return now_ - then >= static_cast<std::uint32_t>(duration.count());
  }

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>,
                                                  boost::asio::io_context::executor_type>;
  using Sessions = boost::intrusive::list<Session, boost::intrusive::constant_time_size<false>>;

  void for_each(void (Session::*call)());

  boost::asio::io_context& context_;
  Limits const limits_;
  HttpMetrics const& metrics_;
  base::Histogram const lag_;
  base::TaskGroup& tasks_;
  Timer timer_;
  Sessions open_;
  std::uint32_t now_ = 0;
  bool draining_ = false;
  bool stopping_ = false;
};

}  // namespace runnel::http
