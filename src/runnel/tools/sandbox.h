#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runnel/base/process/spawn.h"

namespace runnel::tools {

// What is taken away from the programs of tool calls (docs/decisions/044).
struct Sandbox {
  std::string program;             // The absolute path of runnel_sandbox.
  std::string user;                // UID:GID to become. Empty if the server is not root: then its own user.
  bool landlock_required = false;  // Whether nothing may start on a kernel without Landlock.
  std::uint64_t memory_bytes = std::uint64_t{256} << 20U;
  std::uint64_t cpu_seconds = 30;
  std::uint64_t processes = 0;  // How many processes its user may have, if the program may start any.
  bool tree_required = false;   // Whether those must be certain to end with the server.
  bool network = false;
  std::vector<std::string> readable;  // Files and folders, besides the program itself.
};

// Starts `program`, an absolute path, in the sandbox. The caller adds the environment, the input and the
// connection.
base::SpawnRequest in_sandbox(Sandbox const& sandbox, std::string const& program,
                              std::vector<std::string> const& arguments);

// Starts `program`, which must be project_cli: it reads its environment, takes the same rights away from
// itself before it does anything else, and is there sooner, because one program is started instead of two.
// The sandbox may have no readable files.
base::SpawnRequest confining_itself(Sandbox const& sandbox, std::string const& program,
                                    std::vector<std::string> const& arguments);

// Lets `program`, which must be project_cli, take its rights away and print what it has reached, as
// probe_of() does. A program that does not know how to do that prints something else.
base::SpawnRequest probe_of_itself(Sandbox const& sandbox, std::string const& program);

// Starts nothing: the sandbox takes its own rights away and prints what it has reached, as JSON:
// {"landlock":7,"user":65534,"group":65534}; if it may start processes, also "tree": whether all of them end
// with the server.
base::SpawnRequest probe_of(Sandbox const& sandbox, std::string const& program);

}  // namespace runnel::tools
