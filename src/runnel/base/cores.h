#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace runnel::base {

// One single-threaded io_context per core. Only the core's own thread touches the objects of a core, so they
// need no lock. To reach another core, post to it.
class Cores {
 public:
  explicit Cores(std::size_t count);
  Cores(Cores const&) = delete;
  Cores& operator=(Cores const&) = delete;
  ~Cores();

  [[nodiscard]] std::size_t size() const { return cores_.size(); }
  [[nodiscard]] boost::asio::io_context& at(std::size_t index) { return cores_[index]->context; }

  // The core whose thread calls; size() if the calling thread is not a core's.
  [[nodiscard]] std::size_t current() const;

  void start();

  // Stops all loops and joins their threads. Handlers that are still pending are destroyed with the cores, so
  // owners of coroutines join them first (TaskGroup).
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
