#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "cli/sandbox/sandbox.h"

namespace sandbox {

namespace {

constexpr rlim_t kOpenFiles = 64;
constexpr int kNice = 10;

// If the server was started from a terminal, its programs have no business there. A process that does not
// lead its session can leave the terminal alone.
void leave_terminal() {
  int const terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return;
  ::ioctl(terminal, TIOCNOTTY);
  ::close(terminal);
}

// A limit that is lower already stays as it is.
std::string limit(__rlimit_resource resource, rlim_t most, char const* name) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return failed(name);
  auto const lowest = std::min(most, now.rlim_max);
  rlimit const both{lowest, lowest};
  return ::setrlimit(resource, &both) == 0 ? std::string{} : failed(name);
}

std::string become(Ids const& ids) {
  if (::setgroups(0, nullptr) != 0) return failed("setgroups");
  if (::setresgid(ids.group, ids.group, ids.group) != 0) return failed("setresgid");
  if (::setresuid(ids.user, ids.user, ids.user) != 0) return failed("setresuid");
  return {};
}

std::string drop_capabilities() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
  return ::syscall(SYS_capset, &header, &none) == 0 ? std::string{} : failed("capset");
}

// The signal comes when the thread ends that has started this process. If that has happened already, the
// process has another parent.
std::string end_with(pid_t parent) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return failed("PR_SET_PDEATHSIG");
  return ::getppid() == parent ? "" : "the process that started it has ended";
}

}  // namespace

std::string limit_resources(Options& options) {
  // What waits for a tool can wait a little longer; what waits for the server cannot.
  ::setpriority(PRIO_PROCESS, 0, kNice);
  leave_terminal();
  if (auto bad = limit(RLIMIT_CORE, 0, "RLIMIT_CORE"); !bad.empty()) return bad;
  if (auto bad = limit(RLIMIT_NOFILE, kOpenFiles, "RLIMIT_NOFILE"); !bad.empty()) return bad;
  if (options.memory_bytes > 0) {
    if (auto bad = limit(RLIMIT_AS, options.memory_bytes, "RLIMIT_AS"); !bad.empty()) return bad;
  }
  if (options.cpu_seconds > 0) {
    if (auto bad = limit(RLIMIT_CPU, options.cpu_seconds, "RLIMIT_CPU"); !bad.empty()) return bad;
  }
  return {};
}

// Without the right to do it, the other sets decide. To drop a capability is the slowest part of giving up
// rights, so what is not there is left alone.
void empty_bounding_set() {
  int has = 0;
  for (unsigned long capability = 0; has >= 0; ++capability) {
    has = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (has > 0) has = ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
}

std::string become_user(Options& options) {
  ::umask(077);
  if (::chdir("/") != 0) return failed("chdir");
  // Takes rights that become() gives up. It is slow, and a process that executes nothing has no need of it.
  if (options.program >= 0) empty_bounding_set();
  if (options.ids) {
    if (auto bad = become(*options.ids); !bad.empty()) return bad;
  }
  // To become somebody else may have made the process open to that user (fs.suid_dumpable).
  if (options.program < 0 && ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return failed("PR_SET_DUMPABLE");
  bool const is_root = ::geteuid() == 0 || ::getegid() == 0;
  return is_root ? "the program would run as root; give --user=UID:GID" : "";
}

std::string give_up_rights(Options& options) {
  if (auto bad = drop_capabilities(); !bad.empty()) return bad;
  // Becoming somebody else clears the signal, so it comes after that.
  if (options.parent) {
    if (auto bad = end_with(*options.parent); !bad.empty()) return bad;
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("PR_SET_NO_NEW_PRIVS");
  return {};
}

std::string limit_processes(Options& options) {
  if (options.processes == 0) return {};
  rlim_t const helpers = options.has_tree ? 2 : 0;
  return limit(RLIMIT_NPROC, std::min(options.processes, RLIM_INFINITY - helpers) + helpers, "RLIMIT_NPROC");
}

std::string forbid_growing_files(Options& /*options*/) {
  return limit(RLIMIT_FSIZE, 0, "RLIMIT_FSIZE");
}

}  // namespace sandbox
