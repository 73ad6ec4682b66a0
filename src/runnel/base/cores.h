#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace runnel::base {

// One single-threaded io_context a core. What lives on a core is touched by its thread alone, so it needs no
// lock; to reach another core, post to it.
class Cores {
 public:
  explicit Cores(std::size_t count);
  Cores(Cores const&) = delete;
  Cores& operator=(Cores const&) = delete;
  ~Cores();

  [[nodiscard]] std::size_t size() const { return cores_.size(); }
  [[nodiscard]] boost::asio::io_context& at(std::size_t index) { return cores_[index]->context; }

  // Which core's thread this is; size() for a thread that is none of them.
  [[nodiscard]] std::size_t current() const;

  void start();

  // Stops all loops and joins their threads. What is still pending is destroyed with the cores, so owners of
  // coroutines join them first (TaskGroup).
  void stop();

 private:
  struct Core {
    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
    std::thread thread;
  };
  std::vector<std::unique_ptr<Core>> cores_;
};

}  // namespace runnel::base
