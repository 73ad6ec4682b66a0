#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace runnel::base {

// Owns spawned coroutines, so that none is detached: the code that stops a component joins its group. Any
// thread may call.
class TaskGroup {
 public:
  TaskGroup() = default;
  TaskGroup(TaskGroup const&) = delete;
  TaskGroup& operator=(TaskGroup const&) = delete;

  // An exception that leaves the coroutine is a bug: it is logged with `what`, and the process continues.
  void spawn(boost::asio::any_io_executor executor, char const* what, boost::asio::awaitable<void> task);

  // Blocks until no task is left. Do not call it from a core's own thread.
  void join();

  [[nodiscard]] std::size_t running() const { return running_.load(std::memory_order_relaxed); }

 private:
  void done();

  std::atomic<std::size_t> running_{0};
  std::mutex mutex_;
  std::condition_variable idle_;
};

}  // namespace runnel::base
