#include "runnel/app/shared_probe.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <stdexcept>

namespace runnel::app {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class HandClock final : public base::Clock {
 public:
  [[nodiscard]] std::int64_t now_us() const override { return now_ms_value * 1000; }
  std::int64_t now_ms_value = 1'000'000;
};

store::Async<void> slow(int* calls, Result<void> outcome) {
  ++*calls;
  asio::steady_timer timer{co_await asio::this_coro::executor, 5ms};
  co_await timer.async_wait(asio::use_awaitable);
  co_return outcome;
}

store::Async<void> throwing(int* calls) {
  ++*calls;
  throw std::runtime_error("broken");
  co_return Result<void>{};
}

// The outcomes of `count` callers that ask at the same time.
std::vector<bool> ask(SharedProbe& probe, int count) {
  asio::io_context context;
  std::vector<bool> out;
  for (int i = 0; i < count; ++i) {
    asio::co_spawn(context, probe.ask(), [&out](std::exception_ptr const&, Result<void> outcome) {
      out.push_back(outcome.has_value());
    });
  }
  context.run();
  return out;
}

TEST(SharedProbe, HTTP_7_AskersShareOneProbe) {
  int calls = 0;
  HandClock clock;
  SharedProbe probe{[&] { return slow(&calls, Result<void>{}); }, clock, 1s};

  EXPECT_EQ(ask(probe, 5), std::vector<bool>(5, true));
  EXPECT_EQ(calls, 1);
}

TEST(SharedProbe, HTTP_7_TheOutcomeIsKeptForAWhile) {
  int calls = 0;
  HandClock clock;
  Result<void> now = Error{Errc::unavailable, "the disk is full"};
  SharedProbe probe{[&] { return slow(&calls, now); }, clock, 1s};

  EXPECT_EQ(ask(probe, 2), std::vector<bool>(2, false));
  now = Result<void>{};
  clock.now_ms_value += 999;
  EXPECT_EQ(ask(probe, 2), std::vector<bool>(2, false));
  EXPECT_EQ(calls, 1);

  clock.now_ms_value += 1;
  EXPECT_EQ(ask(probe, 2), std::vector<bool>(2, true));
  EXPECT_EQ(calls, 2);
}

TEST(SharedProbe, HTTP_7_AProbeThatThrowsIsAFailureAndIsAskedAgain) {
  int calls = 0;
  HandClock clock;
  SharedProbe probe{[&] { return throwing(&calls); }, clock, 1s};

  EXPECT_EQ(ask(probe, 2), std::vector<bool>(2, false));
  clock.now_ms_value -= 5000;
  EXPECT_EQ(ask(probe, 1), std::vector<bool>(1, false));
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace runnel::app
