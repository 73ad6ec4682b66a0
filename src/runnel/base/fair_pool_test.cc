#include "runnel/base/fair_pool.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace runnel::base {
namespace {

namespace asio = boost::asio;

// Jobs of two users on one thread. The thread is kept busy until all jobs are queued.
class FairPoolTest : public testing::Test {
 protected:
  asio::awaitable<void> submit(char const* key, char const* name) {
    auto const done = co_await pool.run<std::string>(key, [this, name]() -> Result<std::string> {
      while (!released)
        std::this_thread::yield();
      return std::string{name};
    });
    outcomes.push_back(done ? *done : "refused");
  }
  void start(char const* key, char const* name) {
    asio::co_spawn(context, submit(key, name), asio::detached);
  }

  asio::io_context context;
  std::atomic<bool> released = false;
  std::vector<std::string> outcomes;
  FairPool pool{1, 3};
};

TEST_F(FairPoolTest, NobodyWaitsForMoreThanOneJobOfAnother) {
  for (auto const* name : {"a1", "a2", "a3"})
    start("ada", name);
  start("bob", "b1");
  context.poll();
  released = true;

  context.run();

  EXPECT_EQ(outcomes, (std::vector<std::string>{"a1", "b1", "a2", "a3"}));
}

TEST_F(FairPoolTest, WhoHasTooManyWaitingIsRefusedAlone) {
  for (auto const* name : {"a1", "a2", "a3", "a4", "a5"})
    start("ada", name);
  start("bob", "b1");
  context.poll();
  released = true;

  context.run();

  EXPECT_EQ(outcomes, (std::vector<std::string>{"refused", "a1", "b1", "a2", "a3", "a4"}));
}

TEST_F(FairPoolTest, WhatAJobThrowsIsAnInternalError) {
  released = true;
  Result<int> outcome = 0;
  asio::co_spawn(context, pool.run<int>("ada", []() -> Result<int> { throw std::runtime_error("broken"); }),
                 [&](std::exception_ptr const&, Result<int> result) { outcome = result; });

  context.run();

  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, Errc::internal);
}

}  // namespace
}  // namespace runnel::base
