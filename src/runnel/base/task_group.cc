#include "runnel/base/task_group.h"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <utility>

#include "runnel/base/log/log.h"

namespace runnel::base {

void TaskGroup::spawn(boost::asio::any_io_executor executor, char const* what,
                      boost::asio::awaitable<void> task) {
  running_.fetch_add(1, std::memory_order_relaxed);
  boost::asio::co_spawn(executor, std::move(task), [this, what](std::exception_ptr const& failure) {
    if (failure) {
      try {
        std::rethrow_exception(failure);
      } catch (std::exception const& error) {
        log(LogLevel::error, "task failed", {{"task", what}, {"detail", error.what()}});
      } catch (...) {
        log(LogLevel::error, "task failed", {{"task", what}});
      }
    }
    done();
  });
}

void TaskGroup::done() {
  std::lock_guard const lock{mutex_};
  if (running_.fetch_sub(1, std::memory_order_relaxed) == 1) idle_.notify_all();
}

void TaskGroup::join() {
  std::unique_lock lock{mutex_};
  idle_.wait(lock, [this] { return running_.load(std::memory_order_relaxed) == 0; });
}

}  // namespace runnel::base
