#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/sandbox/sandbox.h"

namespace sandbox {

namespace {

// The rights that the first version of Landlock knows. Later versions add some, for which the headers of
// Debian 12 have names up to the second version only.
constexpr std::uint64_t kFirstRights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1;
constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kReadFolder = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;

std::string landlock_failed(std::string const& what) {
  return what + ": " + std::strerror(errno);
}

std::uint64_t rights_of(long version) {
  return version >= 2 ? kFirstRights | LANDLOCK_ACCESS_FS_REFER : kFirstRights;
}

std::string allow(int rules, std::string const& path) {
  int const file = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (file < 0) return landlock_failed(path);
  struct stat info {};
  bool const is_folder = ::fstat(file, &info) == 0 && S_ISDIR(info.st_mode);
  landlock_path_beneath_attr rule{};
  rule.allowed_access = is_folder ? kReadFolder : kReadFile;
  rule.parent_fd = file;
  bool const added = ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0U) == 0;
  auto bad = added ? std::string{} : landlock_failed(path);
  ::close(file);
  return bad;
}

}  // namespace

std::string restrict_files(Options const& options) {
  long const version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return options.landlock_required ? "the kernel has no Landlock" : "";
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = rights_of(version);
  int const rules =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0U));
  if (rules < 0) return landlock_failed("landlock_create_ruleset");
  if (auto bad = allow(rules, options.command.front()); !bad.empty()) return bad;
  for (auto const& path : options.readable) {
    if (auto bad = allow(rules, path); !bad.empty()) return bad;
  }
  if (::syscall(SYS_landlock_restrict_self, rules, 0U) != 0) return landlock_failed("landlock_restrict_self");
  ::close(rules);
  return {};
}

}  // namespace sandbox
