#include "runnel/base/sleep.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace runnel::base {

namespace asio = boost::asio;

asio::awaitable<bool> sleep_for(std::chrono::microseconds duration, std::shared_ptr<Cancel> cancel) {
  if (cancel->requested()) co_return false;
  asio::steady_timer timer{co_await asio::this_coro::executor, duration};
  Cancel::Registration const wake{*cancel, [&timer] { timer.cancel(); }};
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return !cancel->requested();
}

}  // namespace runnel::base
