#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a program loses before it does anything: runnel_sandbox does this to the programs that it starts, and
// project_cli to itself. Each function that returns a text returns an empty one, or what failed and why.
namespace sandbox {

// The exit code of a program that could not be confined.
inline constexpr int kFailed = 125;
// What it prints then begins with this, so that nobody takes the code for one of the program's own.
inline constexpr char kFailurePrefix[] = "runnel_sandbox: ";

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
  bool tree_required = false;         // Whether it must not start if its processes cannot have a namespace.
  bool probe = false;                 // Whether to tell what was reached, and to do nothing else.
  std::vector<std::string> readable;  // Files and folders that it may read and execute, besides itself.
  std::vector<char*> command;         // The program, its arguments and a null pointer.
  // The program's file, opened before the rights to reach it are given up. Negative if the process itself is
  // the program: then it needs no file.
  int program = -1;
  bool has_tree = false;  // Whether its processes have a PID namespace, which ends as a whole.
};

// What failed, and the system's reason: "setgroups: Operation not permitted".
std::string failed(std::string const& what);

// Reads one option, such as "--memory=1000". False if there is no such option.
bool read_option(std::string_view argument, Options& options);

// Does all that follows, in this order. With `processes`, another process returns from this; see fork_tree.
std::string confine(Options& options);

// What confine() has reached, as JSON: {"landlock":7,"user":65534,"group":65534}, and "tree" if the program
// may start processes. `landlock` is its version, which must be asked for before.
std::string reached(Options const& options, long landlock);

// Limits on resources. There are no core files.
std::string limit_resources(Options& options);

// If the program may start processes, its own children get a PID namespace, if this process may make one.
// Sets `has_tree`, and never fails.
std::string unshare_as_root(Options& options);

// Becomes `ids`. Fails if the program would run as root.
std::string become_user(Options& options);

// If the program may start processes and they have no PID namespace yet, they get one in a user namespace, in
// which all ids stay the same. Sets `has_tree`. If that cannot be had, this fails only if it is required, or
// if the namespace has been made and the ids cannot be kept in it.
std::string unshare_as_user(Options& options);

// Nothing can get a capability by executing a file.
void empty_bounding_set();

// Gives up the rights of the user who started it: has no capability, gains no rights by set-user-ID programs,
// and ends with its parent.
std::string give_up_rights(Options& options);

// With `has_tree`, only a grandchild returns from this, to become the program. This process stays as its
// supervisor. When the program or the supervisor ends, for whatever reason, all processes of the tree end.
// The supervisor then ends as the program has ended. It and its child hold no descriptor of the program.
std::string fork_tree(Options& options);

// Limits how many processes the user may have. The two that look after a tree are not counted.
std::string limit_processes(Options& options);

// The kernel's version of Landlock; 0 if it has none.
long landlock_version();

// Lets the program open no file except itself and `readable`. Without Landlock in the kernel this does
// nothing, unless it is required. Names, sizes and modes of files stay visible.
std::string restrict_files(Options& options);

// Refuses system calls that the program does not need: to leave its process group, to touch other processes,
// to change owners or modes of files, to change namespaces, mounts or the kernel, to open sockets (with
// `network`: other sockets than the internet's), and to start processes unless `processes` allows it. If the
// process itself is the program, every call is refused except the few that it needs.
std::string restrict_system_calls(Options& options);

// The program can make no file longer. This comes last, because it may end a process that writes an error
// message into a file.
std::string forbid_growing_files(Options& options);

}  // namespace sandbox
