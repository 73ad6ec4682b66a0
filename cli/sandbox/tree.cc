#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cli/sandbox/sandbox.h"

// The processes of a tree: this process becomes the supervisor. Its child is the first process of the PID
// namespace, with which the kernel ends all others. The child of that one becomes the program.

namespace sandbox {

namespace {

// The exit code of a helper that cannot tell how the program has ended.
constexpr int kNoStatus = 125;

// Where a helper keeps its end of the channel; all its other descriptors are closed.
constexpr int kChannel = 0;

// So that a helper holds no pipe open which the program has closed.
void keep_only(int channel) {
  ::dup2(channel, kChannel);
  ::closefrom(kChannel + 1);
}

pid_t wait_for(pid_t child, int& status) {
  pid_t ended = -1;
  do {
    ended = ::waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  return ended;
}

// Ends as a process with this status has ended.
[[noreturn]] void end_as(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  int const number = WTERMSIG(status);
  sigset_t all;
  sigfillset(&all);
  std::signal(number, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  std::raise(number);
  ::_exit(kNoStatus);
}

// Outside of the namespace. When the first process has ended, all others of the tree have, too.
[[noreturn]] void supervise(pid_t first, int channel) {
  keep_only(channel);
  int of_first = 0;
  if (wait_for(first, of_first) < 0) ::_exit(kNoStatus);
  int of_program = 0;
  bool const is_told = ::read(kChannel, &of_program, sizeof of_program) == sizeof of_program;
  end_as(is_told ? of_program : of_first);
}

// The first process of the namespace: reaps the processes whose parents have ended, and ends with the
// program. It cannot end by a signal as the program does, so it tells the supervisor how the program has
// ended.
[[noreturn]] void lead(pid_t program, int channel) {
  keep_only(channel);
  int status = 0;
  pid_t ended = 0;
  while (ended != program) {
    ended = wait_for(-1, status);
    if (ended < 0) ::_exit(kNoStatus);
  }
  bool const is_told = ::write(kChannel, &status, sizeof status) == sizeof status;
  ::_exit(is_told ? 0 : kNoStatus);
}

// Seen from inside, a parent outside of the namespace has no pid, so getppid() does not tell whether it has
// ended. The supervisor's end of the channel does.
std::string end_with_supervisor(int channel) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return failed("PR_SET_PDEATHSIG");
  pollfd end{channel, 0, 0};
  if (::poll(&end, 1, 0) < 0) return failed("poll");
  return (end.revents & POLLHUP) == 0 ? "" : "the supervisor has ended";
}

bool write_file(char const* path, std::string const& text) {
  auto* const file = std::fopen(path, "we");
  if (file == nullptr) return false;
  bool const is_written = std::fputs(text.c_str(), file) >= 0;
  return std::fclose(file) == 0 && is_written;
}

// Everybody stays who they are.
std::string map_ids(Ids const& ids) {
  auto const itself = [](auto id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; };
  if (!write_file("/proc/self/setgroups", "deny")) return failed("setgroups of a user namespace");
  if (!write_file("/proc/self/uid_map", itself(ids.user))) return failed("uid_map");
  return write_file("/proc/self/gid_map", itself(ids.group)) ? std::string{} : failed("gid_map");
}

}  // namespace

std::string unshare_as_root(Options& options) {
  options.has_tree = options.processes > 0 && ::unshare(CLONE_NEWPID) == 0;
  return {};
}

std::string unshare_as_user(Options& options) {
  if (options.processes == 0 || options.has_tree) return {};
  Ids const ids{::geteuid(), ::getegid()};
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // Who has changed the user may not write the maps otherwise.
  options.has_tree =
      ::access("/proc/self/uid_map", W_OK) == 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
  if (!options.has_tree) return options.tree_required ? failed("a namespace for processes") : "";
  empty_bounding_set();  // The new namespace has filled it.
  return map_ids(ids);
}

std::string fork_tree(Options& options) {
  if (!options.has_tree) return {};
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return failed("socketpair");
  // Nobody may read the environment of the program out of a helper.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return failed("PR_SET_DUMPABLE");
  std::signal(SIGCHLD, SIG_DFL);  // If it were ignored, the kernel would tell nobody how a child has ended.
  pid_t const first = ::fork();
  if (first < 0) return failed("fork");
  if (first > 0) supervise(first, ends[0]);
  ::close(ends[0]);
  if (auto bad = end_with_supervisor(ends[1]); !bad.empty()) return bad;
  pid_t const program = ::fork();
  if (program < 0) return failed("fork");
  if (program > 0) lead(program, ends[1]);
  ::close(ends[1]);
  return {};
}

}  // namespace sandbox
