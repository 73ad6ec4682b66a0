#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "runnel/base/blocking_pool.h"
#include "runnel/base/cancel.h"
#include "runnel/base/process/spawn.h"
#include "runnel/core/error.h"

namespace runnel::base {

struct ChildLimits {
  std::chrono::milliseconds time{std::chrono::seconds{30}};  // From the start to the end of the program.
  std::size_t output_bytes = std::size_t{1} << 20U;
  // How much of stderr is kept. The rest is read and dropped; a flood of it ends the program.
  std::size_t error_bytes = std::size_t{16} << 10U;
};

// How a program ended.
struct ChildOutcome {
  enum class End {
    exited,            // By itself; `code` is its exit code.
    signaled,          // By a signal, which is `code`.
    timed_out,         // Killed at its time limit.
    output_too_large,  // Killed at an output limit; `output` holds what was read up to then.
  };
  End end = End::exited;
  int code = 0;
  std::string output;
  std::string errors;  // The beginning of stderr.
};

// Runs a program to its end. `starting` has threads that live as long as the server. When this returns, the
// program is reaped, and every process of its group has been killed. A process that has left the group is not
// reached, so let a sandbox forbid that. Fails as spawn() does, and with `canceled` if a stop was requested
// before the program ended by itself.
boost::asio::awaitable<Result<ChildOutcome>> run_child(SpawnRequest request, ChildLimits limits,
                                                       std::shared_ptr<BlockingPool> starting,
                                                       std::shared_ptr<Cancel> cancel);

}  // namespace runnel::base
