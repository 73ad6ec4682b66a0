#include "runnel/base/process/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace runnel::base {

namespace {

constexpr int kInherited = 3;

Error spawn_error(Errc code, std::string const& what, int error) {
  return {code, fmt::format("{}: {}", what, std::strerror(error))};
}

// A descriptor above the ones that the program gets, so that dup2 onto those overwrites nothing.
Result<Descriptor> lift(Descriptor low) {
  Descriptor high{::fcntl(low.get(), F_DUPFD_CLOEXEC, kInherited + 1)};
  if (!high.is_open()) return spawn_error(Errc::unavailable, "a descriptor for a program", errno);
  return high;
}

struct Pipe {
  Descriptor reads{-1};
  Descriptor writes{-1};
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return spawn_error(Errc::unavailable, "a pipe for a program", errno);
  Descriptor reads{ends[0]};
  auto writes = lift(Descriptor{ends[1]});
  if (!writes) return writes.error();
  return Pipe{std::move(reads), std::move(*writes)};
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    auto const written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// The input as a file in memory: the program can read it at any speed, or not at all, and nobody has to feed
// a pipe.
Result<Descriptor> make_input(std::string const& bytes) {
  Descriptor file{::memfd_create("input", MFD_CLOEXEC)};
  if (!file.is_open() || !write_all(file.get(), bytes) || ::lseek(file.get(), 0, SEEK_SET) != 0)
    return spawn_error(Errc::unavailable, "the input of a program", errno);
  return lift(std::move(file));
}

std::vector<char*> pointers(std::vector<std::string> const& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto const& text : texts)
    out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// What posix_spawn does between fork and exec.
class Actions {
 public:
  Actions() {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  Actions(Actions const&) = delete;
  Actions& operator=(Actions const&) = delete;
  ~Actions() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }

  void give(int descriptor, int as) { posix_spawn_file_actions_adddup2(&files_, descriptor, as); }
  void close_from(int first) { posix_spawn_file_actions_addclosefrom_np(&files_, first); }

  [[nodiscard]] posix_spawn_file_actions_t const* files() const { return &files_; }
  [[nodiscard]] posix_spawnattr_t const* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

bool is_about_the_program(int error) {
  return error != EAGAIN && error != ENOMEM && error != EMFILE && error != ENFILE;
}

// The pidfd of a child that nobody has reaped, so its pid cannot belong to another process.
Result<Descriptor> open_pidfd(pid_t pid) {
  Descriptor process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U))};
  if (process.is_open()) return process;
  int const error = errno;
  ::kill(-pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return spawn_error(Errc::unavailable, "a descriptor of a process", error);
}

}  // namespace

Result<Spawned> spawn(SpawnRequest const& request) {
  auto input = make_input(request.input);
  if (!input) return input.error();
  auto output = make_pipe();
  if (!output) return output.error();
  auto errors = make_pipe();
  if (!errors) return errors.error();
  auto inherited = request.inherited >= 0 ? lift(Descriptor{::dup(request.inherited)})
                                          : Result<Descriptor>{Descriptor{-1}};
  if (!inherited) return inherited.error();

  Actions actions;
  actions.give(input->get(), STDIN_FILENO);
  actions.give(output->writes.get(), STDOUT_FILENO);
  actions.give(errors->writes.get(), STDERR_FILENO);
  if (inherited->is_open()) actions.give(inherited->get(), kInherited);
  actions.close_from(inherited->is_open() ? kInherited + 1 : kInherited);

  auto arguments = request.arguments;
  arguments.insert(arguments.begin(), request.program);
  pid_t pid = -1;
  int const failed = ::posix_spawn(&pid, request.program.c_str(), actions.files(), actions.attributes(),
                                   pointers(arguments).data(), pointers(request.environment).data());
  if (failed != 0) {
    return spawn_error(is_about_the_program(failed) ? Errc::invalid : Errc::unavailable,
                       "start of " + request.program, failed);
  }
  auto process = open_pidfd(pid);
  if (!process) return process.error();
  return Spawned{pid, std::move(*process), std::move(output->reads), std::move(errors->reads)};
}

}  // namespace runnel::base
