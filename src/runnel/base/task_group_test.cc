#include "runnel/base/task_group.h"

#include <boost/asio/this_coro.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>

#include "runnel/base/cores.h"
#include "runnel/base/sleep.h"

namespace runnel::base {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> work(std::shared_ptr<std::atomic<int>> done) {
  co_await sleep_for(2ms, std::make_shared<Cancel>());
  done->fetch_add(1);
}

asio::awaitable<void> fail() {
  throw std::runtime_error("as the test wants");
  co_return;
}

TEST(TaskGroup, JoinWaitsForTheTasksOfAllCores) {
  Cores cores{2};
  cores.start();
  TaskGroup group;
  auto const done = std::make_shared<std::atomic<int>>(0);
  for (std::size_t i = 0; i < 10; ++i)
    group.spawn(cores.at(i % 2).get_executor(), "work", work(done));

  group.join();

  EXPECT_EQ(done->load(), 10);
  EXPECT_EQ(group.running(), 0u);
}

TEST(TaskGroup, TaskThatThrowsIsLoggedAndTheOthersGoOn) {
  Cores cores{1};
  cores.start();
  TaskGroup group;
  auto const done = std::make_shared<std::atomic<int>>(0);
  testing::internal::CaptureStderr();

  group.spawn(cores.at(0).get_executor(), "failing", fail());
  group.spawn(cores.at(0).get_executor(), "work", work(done));
  group.join();

  auto const text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("task=failing"), std::string::npos) << text;
  EXPECT_NE(text.find("as the test wants"), std::string::npos) << text;
  EXPECT_EQ(done->load(), 1);
}

TEST(TaskGroup, JoinOfAnEmptyGroupReturns) {
  TaskGroup group;

  group.join();

  EXPECT_EQ(group.running(), 0u);
}

}  // namespace
}  // namespace runnel::base
