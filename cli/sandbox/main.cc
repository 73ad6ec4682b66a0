#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/sandbox/sandbox.h"

// Starts one program with fewer rights: the server uses it for everything that a model's tool call starts. It
// prints nothing unless it fails.

namespace {

using sandbox::kFailed;

// As env(1) and its relatives have it.
constexpr int kNotStarted = 126;

constexpr char kUsage[] =
    "usage: runnel_sandbox [OPTION…] -- PROGRAM [ARGUMENT…]\n"
    "       runnel_sandbox --help | --version\n"
    "Starts PROGRAM, an absolute path, with fewer rights than this process has.\n"
    "  --user=UID:GID      become this user and group; not root (needs root)\n"
    "  --parent=PID        end when this process, which must be the parent, ends\n"
    "  --memory=BYTES      limit the address space of each process\n"
    "  --cpu=SECONDS       limit the CPU time of each process\n"
    "  --processes=N       allow the program to start processes, as long as the user has at most N\n"
    "  --network           allow the program to open sockets\n"
    "  --read=PATH         allow the program to read and execute this file or folder, such as /usr for what "
    "a\n"
    "                      program that is not static needs; may be repeated\n"
    "  --require-landlock  fail if the kernel has no Landlock, instead of leaving files unprotected\n"
    "  --require-tree      fail if the kernel cannot end all processes of the program together (PID "
    "namespace)\n"
    "  --probe             do not start PROGRAM; print which protections work here\n"
    "It exits as PROGRAM does, with 125 if a protection cannot be had, and with 126 if PROGRAM cannot be "
    "started.\n";

// The first argument that cannot be read; null if there is none.
char const* read_arguments(int argc, char** argv, sandbox::Options& options) {
  int i = 1;
  for (; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    if (!sandbox::read_option(argv[i], options)) return argv[i];
  }
  if (i + 1 >= argc || argv[i + 1][0] != '/') return "PROGRAM";
  options.command.assign(argv + i + 1, argv + argc + 1);
  return nullptr;
}

// Returns only if it fails. The file is executed by its descriptor, because the user that the program runs as
// may have no way to its folder. A script cannot be executed in this way: its interpreter opens it by its
// name.
void start(sandbox::Options const& options) {
  ::execveat(options.program, "", options.command.data(), environ, AT_EMPTY_PATH);
  if (errno == ENOENT) ::execv(options.command.front(), options.command.data());
}

int not_started(sandbox::Options const& options) {
  std::fprintf(stderr, "%s%s: %s\n", sandbox::kFailurePrefix, options.command.front(), std::strerror(errno));
  return kNotStarted;
}

int print(char const* text) {
  return std::fputs(text, stdout) >= 0 && std::fflush(stdout) == 0 ? 0 : kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) return print(kUsage);
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0)
    return print("runnel_sandbox " RUNNEL_VERSION "\n");
  sandbox::Options options;
  // Asked before the sandbox refuses the question.
  long const landlock = sandbox::landlock_version();
  if (auto const* const bad = read_arguments(argc, argv, options)) {
    std::fprintf(stderr, "%sbad or missing argument: %s\n%s", sandbox::kFailurePrefix, bad, kUsage);
    return kFailed;
  }
  options.program = ::open(options.command.front(), O_PATH | O_CLOEXEC);
  if (options.program < 0) return not_started(options);
  if (auto const bad = sandbox::confine(options); !bad.empty()) {
    std::fprintf(stderr, "%s%s\n", sandbox::kFailurePrefix, bad.c_str());
    return kFailed;
  }
  if (options.probe) return print(sandbox::reached(options, landlock).c_str());
  start(options);
  return not_started(options);
}
