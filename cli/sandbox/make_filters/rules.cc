#include "cli/sandbox/make_filters/rules.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace sandbox {

namespace {

// Never allowed. Names that libseccomp does not know are skipped.
constexpr std::initializer_list<char const*> kNever{
    // Leaving the group, which is killed as a whole.
    "setsid", "setpgid",
    // Other processes.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_open", "pidfd_getfd",
    "pidfd_send_signal", "kcmp", "perf_event_open", "userfaultfd", "setpriority", "ioprio_set",
    "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr",
    // What outlives the program: shared memory and queues of System V and POSIX.
    "shmget", "shmat", "msgget", "semget", "mq_open",
    // Namespaces, mounts and other roots.
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick",
    "move_mount", "open_tree", "mount_setattr", "open_by_handle_at", "name_to_handle_at",
    // The kernel itself.
    "bpf", "keyctl", "add_key", "request_key", "init_module", "finit_module", "delete_module", "kexec_load",
    "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl", "syslog", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "iopl", "ioperm",
    // Owners, modes, times and attributes of files, which Landlock leaves alone.
    "chmod", "fchmod", "fchmodat", "chown", "lchown", "fchown", "fchownat", "utime", "utimes", "utimensat",
    "futimesat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
    // New and shorter files.
    "truncate", "creat", "mknod", "mknodat",
    // A way around a filter of system calls.
    "io_uring_setup", "io_uring_enter", "io_uring_register"};

// Younger calls for the same: fchmodat2, setxattrat, removexattrat, open_tree_attr, file_setattr. These
// numbers are the same on all architectures.
constexpr std::initializer_list<int> kNeverByNumber{452, 463, 466, 467, 469};

// Their arguments are in memory, where a filter cannot see them. Libraries then use the older call.
constexpr std::initializer_list<char const*> kNotThere{"clone3", "openat2"};

constexpr std::initializer_list<char const*> kNetwork{"socket", "connect", "bind",
                                                      "listen", "accept",  "accept4"};

constexpr std::initializer_list<char const*> kProcesses{"fork", "vfork", "clone"};

constexpr std::initializer_list<char const*> kSignals{"kill", "tkill", "tgkill", "rt_sigqueueinfo",
                                                      "rt_tgsigqueueinfo"};

constexpr std::uint64_t kWhole = 0xffffffffU;  // The kernel takes an int; the upper half may hold anything.

// What project_cli does after it has been confined, besides what make_own_filter() allows with conditions.
// The C library uses writev for the message of a program that it ends; --probe reads the ids.
constexpr std::initializer_list<char const*> kOwn{"read",   "write",  "writev", "recvfrom",  "brk",
                                                  "munmap", "getuid", "getgid", "exit_group"};

void check(int outcome, char const* what) {
  if (outcome < 0) throw std::runtime_error{std::string{what} + ": " + std::strerror(-outcome)};
}

// A filter in the making.
class Filter {
 public:
  // `otherwise` is what happens to a call that has no rule.
  explicit Filter(std::uint32_t otherwise) : filter_{seccomp_init(otherwise)} {
    check(filter_ == nullptr ? -ENOMEM : 0, "seccomp_init");
    // A tree of comparisons instead of a list. The kernel tries every system call when it takes the filter.
    check(seccomp_attr_set(filter_, SCMP_FLTATR_CTL_OPTIMIZE, 2), "SCMP_FLTATR_CTL_OPTIMIZE");
  }
  Filter(Filter const&) = delete;
  Filter& operator=(Filter const&) = delete;
  ~Filter() { seccomp_release(filter_); }

  void refuse(std::initializer_list<char const*> names, int error = EPERM) {
    for (auto const* name : names)
      add(name, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), nullptr);
  }
  // By numbers, for calls that are younger than libseccomp.
  void refuse_numbers(std::initializer_list<int> numbers) {
    for (auto const number : numbers)
      check(seccomp_rule_add_array(filter_, SCMP_ACT_ERRNO(EPERM), number, 0, nullptr), "a number");
  }
  void refuse_if(char const* name, scmp_arg_cmp const& condition) {
    add(name, SCMP_ACT_ERRNO(EPERM), &condition);
  }
  void allow(std::initializer_list<char const*> names) {
    for (auto const* name : names)
      allow_if(name, {});
  }
  // With all of the conditions. A name that libseccomp does not know is a mistake: the call would be refused.
  void allow_if(char const* name, std::initializer_list<scmp_arg_cmp> conditions) {
    int const call = seccomp_syscall_resolve_name(name);
    check(call < 0 ? -EINVAL : 0, name);
    check(seccomp_rule_add_array(filter_, SCMP_ACT_ALLOW, call, static_cast<unsigned>(conditions.size()),
                                 conditions.begin()),
          name);
  }

  [[nodiscard]] std::vector<sock_filter> compile() const {
    int const file = ::memfd_create("filter", MFD_CLOEXEC);
    check(file < 0 ? -errno : 0, "memfd_create");
    int const exported = seccomp_export_bpf(filter_, file);
    auto const bytes = ::lseek(file, 0, SEEK_END);
    std::vector<sock_filter> code(bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof(sock_filter) : 0);
    auto const got = ::pread(file, code.data(), code.size() * sizeof(sock_filter), 0);
    ::close(file);
    check(exported, "seccomp_export_bpf");
    check(got > 0 && got == bytes ? 0 : -EIO, "the filter's file");
    return code;
  }

 private:
  void add(char const* name, std::uint32_t action, scmp_arg_cmp const* condition) {
    int const call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR) return;
    check(seccomp_rule_add_array(filter_, action, call, condition == nullptr ? 0 : 1, condition), name);
  }

  scmp_filter_ctx filter_;
};

scmp_arg_cmp has_bits(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

scmp_arg_cmp differs(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_NE, value, 0};
}

void refuse_flags(Filter& filter) {
  filter.refuse_if("open", has_bits(1, O_TRUNC, O_TRUNC));
  filter.refuse_if("openat", has_bits(2, O_TRUNC, O_TRUNC));
  filter.refuse_if("prctl", has_bits(0, kWhole, PR_SET_PDEATHSIG));
  filter.refuse_if("prlimit64", differs(0, 0));  // The limits of another process.
  // Input that others would take for typed, if the server was started from a terminal.
  for (auto const request : {TIOCSTI, TIOCLINUX})
    filter.refuse_if("ioctl", has_bits(1, kWhole, static_cast<std::uint64_t>(request)));
}

// Pairs of streams reach nobody else. Other pairs can send to any local socket, network or not.
void refuse_pairs(Filter& filter) {
  for (auto const type : {SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET})
    filter.refuse_if("socketpair", has_bits(1, 0xf, static_cast<std::uint64_t>(type)));
}

// With a network, the internet only: a local socket may belong to a service that starts programs for others.
void refuse_local_sockets(Filter& filter) {
  constexpr int kFamilies = 64;
  for (int family = 0; family < kFamilies; ++family) {
    if (family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
    filter.refuse_if("socket", has_bits(0, kWhole, static_cast<std::uint64_t>(family)));
  }
  filter.refuse_if("socket", {0, SCMP_CMP_GE, kFamilies, 0});
}

// Without processes of its own, the program may signal only itself.
void refuse_processes(Filter& filter, std::uint32_t own_pid) {
  filter.refuse(kProcesses);
  for (auto const* name : kSignals)
    filter.refuse_if(name, differs(0, own_pid));
}

// New processes stay in its namespaces and are its own children.
void refuse_clone_flags(Filter& filter) {
  for (auto const flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                          CLONE_NEWPID, CLONE_NEWNET, CLONE_PARENT}) {
    auto const bits = static_cast<std::uint64_t>(flag);
    filter.refuse_if("clone", has_bits(0, bits, bits));
  }
}

}  // namespace

std::vector<sock_filter> make_filter(bool network, bool processes, std::uint32_t own_pid) {
  Filter filter{SCMP_ACT_ALLOW};
  filter.refuse(kNever);
  filter.refuse_numbers(kNeverByNumber);
  filter.refuse(kNotThere, ENOSYS);
  refuse_flags(filter);
  refuse_pairs(filter);
  network ? refuse_local_sockets(filter) : filter.refuse(kNetwork);
  processes ? refuse_clone_flags(filter) : refuse_processes(filter, own_pid);
  return filter.compile();
}

std::vector<sock_filter> make_own_filter() {
  Filter filter{SCMP_ACT_ERRNO(EPERM)};
  filter.allow(kOwn);
  filter.allow_if("mmap", {has_bits(2, PROT_EXEC, 0), has_bits(3, MAP_ANONYMOUS, MAP_ANONYMOUS)});
  filter.allow_if("sendto", {{4, SCMP_CMP_EQ, 0, 0}});  // To whom the socket is connected, and nobody else.
  filter.allow_if("prlimit64", {has_bits(0, kWhole, 0), has_bits(1, kWhole, RLIMIT_FSIZE)});
  return filter.compile();
}

}  // namespace sandbox
