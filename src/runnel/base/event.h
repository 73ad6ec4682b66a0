#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace runnel::base {

// Lets coroutines of one core wait until another coroutine of the same core says that something changed.
class Event {
 public:
  explicit Event(boost::asio::any_io_executor const& executor)
      : timer_{executor, boost::asio::steady_timer::time_point::max()} {}

  // Resumes after the next notify_all(). Check the condition again: it may have changed back.
  boost::asio::awaitable<void> wait() {
    co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
  void notify_all() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
};

}  // namespace runnel::base
