#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "cli/sandbox/sandbox.h"

namespace sandbox {

namespace {

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

// Never allowed. Names that this kernel does not know are skipped.
constexpr std::initializer_list<char const*> kNever{
    // Leaving the group, which is killed as a whole.
    "setsid", "setpgid",
    // Other processes.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_open", "pidfd_getfd",
    "pidfd_send_signal", "kcmp", "perf_event_open", "userfaultfd",
    // Namespaces, mounts and other roots.
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick",
    "move_mount", "open_tree", "mount_setattr", "open_by_handle_at", "name_to_handle_at",
    // The kernel itself.
    "bpf", "keyctl", "add_key", "request_key", "init_module", "finit_module", "delete_module", "kexec_load",
    "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl", "syslog", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "iopl", "ioperm",
    // Ways around a filter of system calls and of files.
    "io_uring_setup", "io_uring_enter", "io_uring_register", "truncate", "mknod", "mknodat"};

constexpr std::initializer_list<char const*> kNetwork{"socket", "connect", "bind",
                                                      "listen", "accept",  "accept4"};

constexpr std::initializer_list<char const*> kProcesses{"fork", "vfork", "clone"};

int deny(scmp_filter_ctx filter, std::initializer_list<char const*> names) {
  for (auto const* name : names) {
    int const call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR) continue;
    int const done = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
    if (done != 0) return done;
  }
  return 0;
}

// clone3 hides its flags in memory, where a filter cannot see them. Without it, libraries use clone.
int deny_clone3(scmp_filter_ctx filter) {
  return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

int deny_new_namespaces(scmp_filter_ctx filter) {
  for (auto const flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                          CLONE_NEWPID, CLONE_NEWNET}) {
    auto const bits = static_cast<scmp_datum_t>(flag);
    int const done = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                      SCMP_A0(SCMP_CMP_MASKED_EQ, bits, bits));
    if (done != 0) return done;
  }
  return 0;
}

// Typing into the terminal of whoever started the server.
int deny_typing(scmp_filter_ctx filter) {
  return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                          SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffU, TIOCSTI));
}

std::string about(int error) {
  return error == 0 ? std::string{} : std::string{"seccomp: "} + std::strerror(-error);
}

}  // namespace

std::string restrict_system_calls(Options const& options) {
  Filter const filter{seccomp_init(SCMP_ACT_ALLOW), &seccomp_release};
  if (!filter) return "seccomp: no memory";
  int done = deny(filter.get(), kNever);
  if (done == 0) done = deny_clone3(filter.get());
  if (done == 0) done = deny_typing(filter.get());
  if (done == 0 && !options.network) done = deny(filter.get(), kNetwork);
  if (done == 0) {
    done = options.processes == 0 ? deny(filter.get(), kProcesses) : deny_new_namespaces(filter.get());
  }
  if (done == 0) done = seccomp_load(filter.get());
  return about(done);
}

}  // namespace sandbox
