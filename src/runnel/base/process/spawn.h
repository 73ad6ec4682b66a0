#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runnel/base/descriptor.h"
#include "runnel/core/error.h"

namespace runnel::base {

// A program to start. Nothing of it passes through a shell. No text except the input may contain a NUL.
struct SpawnRequest {
  std::string program;                          // An absolute path.
  std::vector<std::string> arguments;           // Without the program's name.
  std::vector<std::string> environment;         // NAME=value. The program gets these variables and no others.
  std::string input;                            // What it reads from its standard input.
  std::shared_ptr<Descriptor const> inherited;  // Becomes the program's descriptor 3. Null if there is none.
};

// A started program. It leads a process group of its own. Unless it has been reaped, the destructor kills the
// group and reaps the program.
class Spawned {
 public:
  // How the program ended.
  struct Status {
    bool exited = false;  // False if a signal ended it.
    int code = 0;         // The exit code or the signal.
  };

  Spawned(pid_t pid, Descriptor process_end, Descriptor output_end, Descriptor errors_end)
      : process{std::move(process_end)},
        output{std::move(output_end)},
        errors{std::move(errors_end)},
        pid_{pid} {}
  Spawned(Spawned&& other) noexcept
      : process{std::move(other.process)},
        output{std::move(other.output)},
        errors{std::move(other.errors)},
        pid_{std::exchange(other.pid_, -1)} {}
  Spawned& operator=(Spawned&&) = delete;
  ~Spawned() {
    if (pid_ > 0) static_cast<void>(reap());
  }

  // The group's id stays taken until its leader is reaped, so this cannot hit another group. After that it
  // does nothing.
  void kill_group() const;

  // Whether the program has ended. `process` may seem readable before that: Asio may report an event of a
  // descriptor that was closed before and had the same place.
  [[nodiscard]] bool has_ended() const;

  // Kills what is left of the group and reaps the program. Blocks until the program has ended, so call it
  // when `process` is readable. Fails with `internal` if the program has been reaped.
  Result<Status> reap();

  Descriptor process;  // A pidfd: readable when the program has ended.
  Descriptor output;   // What the program writes to stdout.
  Descriptor errors;   // What the program writes to stderr.

 private:
  pid_t pid_;  // Also the id of the group. Negative after the program was reaped.
};

// Starts the program. It inherits its three standard streams, `inherited`, and no other descriptor, and
// begins with no signal blocked or ignored. It stays in the server's session: many kernels share the CPU out
// evenly among sessions, so that programs with sessions of their own would take it from the server. Fails
// with `invalid` if the program cannot be executed or a text contains a NUL, and with `unavailable` if the
// system has no room for it. Blocks until the program runs, so call it on a thread that may block and that
// lives as long as the program may.
Result<Spawned> spawn(SpawnRequest const& request);

}  // namespace runnel::base
