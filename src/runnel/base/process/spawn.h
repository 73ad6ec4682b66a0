#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "runnel/base/descriptor.h"
#include "runnel/core/error.h"

namespace runnel::base {

// A program to start. Nothing of it passes through a shell.
struct SpawnRequest {
  std::string program;                   // An absolute path.
  std::vector<std::string> arguments;    // Without the program's name.
  std::vector<std::string> environment;  // NAME=value. The program gets these variables and no others.
  std::string input;                     // What it reads from its standard input.
  int inherited = -1;                    // Becomes the program's descriptor 3. Negative if there is none.
};

// A started program, which leads a process group of its own. The caller must end and reap it.
struct Spawned {
  pid_t pid = -1;          // Also the id of the process group.
  Descriptor process{-1};  // A pidfd: readable when the program has ended.
  Descriptor output{-1};   // What the program writes to stdout.
  Descriptor errors{-1};   // What the program writes to stderr.
};

// Starts the program. It inherits its three standard streams, `inherited`, and no other descriptor; it begins
// with no signal blocked or ignored. Fails with `invalid` if the program cannot be executed, and with
// `unavailable` if the system has no room for it. Blocks until the program runs, so call it on a thread that
// may block and that lives as long as the program may.
Result<Spawned> spawn(SpawnRequest const& request);

}  // namespace runnel::base
