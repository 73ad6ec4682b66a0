#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "cli/sandbox/sandbox.h"

namespace sandbox {

namespace {

// The rules of Landlock as of its version 6. The headers of Debian 12 know the first two versions only.
struct RulesetAttributes {
  std::uint64_t files = 0;    // From version 1.
  std::uint64_t network = 0;  // From version 4.
  std::uint64_t scopes = 0;   // From version 6.
};

constexpr std::uint64_t kFirstRights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1;
constexpr std::uint64_t kTruncate = 1U << 14U;     // From version 3.
constexpr std::uint64_t kDeviceIoctl = 1U << 15U;  // From version 5.
constexpr std::uint64_t kTcp = 3;                  // To bind and to connect.
constexpr std::uint64_t kSocketsAndSignals = 3;    // Abstract sockets and processes outside the sandbox.

constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kReadFolder = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;

// Everything that this version can refuse.
RulesetAttributes refused_in(long version, bool network) {
  RulesetAttributes out;
  out.files = kFirstRights;
  if (version >= 2) out.files |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) out.files |= kTruncate;
  if (version >= 4 && !network) out.network = kTcp;
  if (version >= 5) out.files |= kDeviceIoctl;
  if (version >= 6) out.scopes = kSocketsAndSignals;
  return out;
}

std::size_t size_in(long version) {
  if (version < 4) return offsetof(RulesetAttributes, network);
  return version < 6 ? offsetof(RulesetAttributes, scopes) : sizeof(RulesetAttributes);
}

std::string allow(int rules, int file, std::string const& path) {
  struct stat info {};
  bool const is_folder = ::fstat(file, &info) == 0 && S_ISDIR(info.st_mode);
  landlock_path_beneath_attr rule{};
  rule.allowed_access = is_folder ? kReadFolder : kReadFile;
  rule.parent_fd = file;
  bool const added = ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0U) == 0;
  return added ? std::string{} : failed(path);
}

std::string allow(int rules, std::string const& path) {
  int const file = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (file < 0) return failed(path);
  auto bad = allow(rules, file, path);
  ::close(file);
  return bad;
}

}  // namespace

long landlock_version() {
  long const version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 1 ? 0 : version;
}

std::string restrict_files(Options& options) {
  long const version = landlock_version();
  if (version < 1) return options.landlock_required ? "the kernel has no Landlock" : "";
  auto const refused = refused_in(version, options.network);
  int const rules = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &refused, size_in(version), 0U));
  if (rules < 0) return failed("landlock_create_ruleset");
  if (options.program >= 0) {
    if (auto bad = allow(rules, options.program, options.command.front()); !bad.empty()) return bad;
  }
  for (auto const& path : options.readable) {
    if (auto bad = allow(rules, path); !bad.empty()) return bad;
  }
  if (::syscall(SYS_landlock_restrict_self, rules, 0U) != 0) return failed("landlock_restrict_self");
  ::close(rules);
  return {};
}

}  // namespace sandbox
