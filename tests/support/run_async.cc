#include "tests/support/run_async.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include <exception>

namespace runnel {

void run_to_end(std::vector<boost::asio::awaitable<void>> work) {
  boost::asio::io_context context{1};
  std::exception_ptr thrown;
  for (auto& one : work) {
    boost::asio::co_spawn(context, std::move(one), [&thrown](std::exception_ptr const& e) {
      if (e) thrown = e;
    });
  }
  context.run();
  if (thrown) std::rethrow_exception(thrown);
}

void run_to_end_on(boost::asio::io_context& context, boost::asio::awaitable<void> work) {
  boost::asio::co_spawn(context, std::move(work), boost::asio::use_future).get();
}

}  // namespace runnel
