#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The parts of runnel_sandbox: what a program loses before it is started. Each function returns an empty
// text, or what failed and why.
namespace sandbox {

struct Ids {
  uid_t user = 0;
  gid_t group = 0;
};

struct Options {
  std::optional<Ids> ids;             // Whom to become; only root can become somebody else.
  std::optional<pid_t> parent;        // The process whose end also ends the program.
  std::uint64_t memory_bytes = 0;     // Address space of each process; 0 means no limit.
  std::uint64_t cpu_seconds = 0;      // 0 means no limit.
  std::uint64_t processes = 0;        // How many it may start, threads included; 0 means none.
  bool network = false;               // Whether it may open sockets.
  bool landlock_required = false;     // Whether it must not start on a kernel without Landlock.
  bool probe = false;                 // Whether to tell what was reached instead of starting the program.
  std::vector<std::string> readable;  // Files and folders that it may read and execute, besides itself.
  std::vector<char*> command;         // The program, its arguments and a null pointer.
  int program = -1;  // The program's file, opened before the rights to reach it are given up.
};

// Limits on resources. There are no core files.
std::string limit_resources(Options const& options);

// Gives up the rights of the user who started it: becomes `ids`, has no capability, gains no rights by
// set-user-ID programs, and ends with its parent. Fails if the program would run as root.
std::string give_up_rights(Options const& options);

// The kernel's version of Landlock; 0 if it has none.
long landlock_version();

// Lets the program open no file except itself and `readable`. Without Landlock in the kernel this does
// nothing, unless it is required. Names, sizes and modes of files stay visible.
std::string restrict_files(Options const& options);

// Refuses system calls that the program does not need: to leave its process group, to touch other processes,
// to change owners or modes of files, to change namespaces, mounts or the kernel, to open sockets (with
// `network`: other sockets than the internet's), and to start processes unless `processes` allows it.
std::string restrict_system_calls(Options const& options);

// The program can make no file longer. This comes last, because it may end a process that writes an error
// message into a file.
std::string forbid_growing_files(Options const& options);

}  // namespace sandbox
