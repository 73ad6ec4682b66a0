#include "runnel/base/process/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

namespace runnel::base {

namespace {

constexpr int kInherited = 3;

Error spawn_error(Errc code, std::string const& what, int error) {
  return {code, fmt::format("{}: {}", what, std::strerror(error))};
}

// A copy above the descriptors that the program gets, so that dup2 onto those overwrites nothing.
Result<Descriptor> lift(Descriptor const& low) {
  Descriptor high{::fcntl(low.get(), F_DUPFD_CLOEXEC, kInherited + 1)};
  if (!high.is_open()) return spawn_error(Errc::unavailable, "a descriptor for a program", errno);
  return high;
}

struct Pipe {
  Descriptor reads;
  Descriptor writes;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return spawn_error(Errc::unavailable, "a pipe for a program", errno);
  Descriptor reads{ends[0]};
  Descriptor const low{ends[1]};
  auto writes = lift(low);
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
  Descriptor const file{::memfd_create("input", MFD_CLOEXEC)};
  if (!file.is_open() || !write_all(file.get(), bytes) || ::lseek(file.get(), 0, SEEK_SET) != 0)
    return spawn_error(Errc::unavailable, "the input of a program", errno);
  return lift(file);
}

std::vector<char*> pointers(std::vector<std::string> const& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto const& text : texts)
    out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

bool any_has_nul(std::vector<std::string> const& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [](std::string const& text) { return text.find('\0') != std::string::npos; });
}

// What posix_spawn does between fork and exec.
class SpawnActions {
 public:
  SpawnActions() {
    note(posix_spawn_file_actions_init(&files_));
    note(posix_spawnattr_init(&attributes_));
    sigset_t none;
    sigemptyset(&none);
    sigset_t all;
    sigfillset(&all);
    note(posix_spawnattr_setsigmask(&attributes_, &none));
    note(posix_spawnattr_setsigdefault(&attributes_, &all));
    note(posix_spawnattr_setpgroup(&attributes_, 0));
    note(posix_spawnattr_setflags(&attributes_,
                                  POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  SpawnActions(SpawnActions const&) = delete;
  SpawnActions& operator=(SpawnActions const&) = delete;
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }

  void give(int descriptor, int as) { note(posix_spawn_file_actions_adddup2(&files_, descriptor, as)); }
  void close_from(int first) { note(posix_spawn_file_actions_addclosefrom_np(&files_, first)); }

  [[nodiscard]] int error() const { return error_; }  // The first one; 0 if there was none.
  [[nodiscard]] posix_spawn_file_actions_t const* files() const { return &files_; }
  [[nodiscard]] posix_spawnattr_t const* attributes() const { return &attributes_; }

 private:
  void note(int error) {
    if (error_ == 0) error_ = error;
  }

  int error_ = 0;
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

bool is_about_the_program(int error) {
  return error != EAGAIN && error != ENOMEM && error != EMFILE && error != ENFILE;
}

}  // namespace

void Spawned::kill_group() const {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

bool Spawned::has_ended() const {
  siginfo_t info{};
  int const seen = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return pid_ <= 0 || seen != 0 || info.si_pid != 0;
}

Result<Spawned::Status> Spawned::reap() {
  if (pid_ <= 0) return Error{Errc::internal, "the program has been reaped"};
  kill_group();
  siginfo_t info{};
  int done = -1;
  do {
    done = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED);
  } while (done != 0 && errno == EINTR);
  pid_ = -1;
  if (done != 0) return spawn_error(Errc::internal, "waitid", errno);
  return Status{info.si_code == CLD_EXITED, info.si_status};
}

Result<Spawned> spawn(SpawnRequest const& request) {
  auto arguments = request.arguments;
  arguments.insert(arguments.begin(), request.program);
  if (any_has_nul(arguments) || any_has_nul(request.environment))
    return Error{Errc::invalid, "start of a program: an argument or a variable contains a NUL"};
  auto const input = make_input(request.input);
  if (!input) return input.error();
  auto output = make_pipe();
  if (!output) return output.error();
  auto errors = make_pipe();
  if (!errors) return errors.error();
  bool const inherits = request.inherited != nullptr;
  auto const inherited = lift(inherits ? *request.inherited : *input);
  if (!inherited) return inherited.error();

  SpawnActions actions;
  actions.give(input->get(), STDIN_FILENO);
  actions.give(output->writes.get(), STDOUT_FILENO);
  actions.give(errors->writes.get(), STDERR_FILENO);
  if (inherits) actions.give(inherited->get(), kInherited);
  actions.close_from(inherits ? kInherited + 1 : kInherited);
  if (actions.error() != 0) return spawn_error(Errc::unavailable, "start of a program", actions.error());

  pid_t pid = -1;
  int const failed = ::posix_spawn(&pid, request.program.c_str(), actions.files(), actions.attributes(),
                                   pointers(arguments).data(), pointers(request.environment).data());
  if (failed != 0) {
    return spawn_error(is_about_the_program(failed) ? Errc::invalid : Errc::unavailable,
                       "start of " + request.program, failed);
  }
  // Nobody has reaped the program, so its pid cannot belong to another process.
  Descriptor process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U))};
  int const error = errno;
  Spawned spawned{pid, std::move(process), std::move(output->reads), std::move(errors->reads)};
  if (!spawned.process.is_open()) return spawn_error(Errc::unavailable, "a descriptor of a program", error);
  return spawned;
}

}  // namespace runnel::base
