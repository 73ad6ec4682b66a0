#include "runnel/base/tokens/key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runnel/base/descriptor.h"
#include "runnel/core/ids.h"

namespace runnel::base {
namespace {

constexpr std::size_t kMaxKeyBytes = std::size_t{64} * 1024;

Error disk_error(char const* what, std::filesystem::path const& path) {
  auto const code = errno == ENOENT ? Errc::not_found : Errc::unavailable;
  return {code, std::string{what} + " " + path.string() + ": " + std::strerror(errno)};
}

Result<void> write_new(std::filesystem::path const& path, std::string const& bytes) {
  base::Descriptor const file{
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!file.is_open()) return Error{Errc::unavailable, disk_error("cannot create", path).detail};
  bool const written =
      ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
      ::fsync(file.get()) == 0;
  if (!written) return disk_error("cannot write", path);
  return {};
}

}  // namespace

std::string key_file_fault(std::string const& path, KeyKind kind, struct stat const& info, uid_t user) {
  bool const is_roots = info.st_uid == 0;
  if (!S_ISREG(info.st_mode)) return path + " is not a regular file";
  if (!is_roots && info.st_uid != user) {
    return fmt::format(
        "{0} belongs to user {1}, who could replace it; run as that user, or run: chown {2} {0}", path,
        info.st_uid, user);
  }
  if (kind == KeyKind::public_key) {
    return (info.st_mode & 022U) == 0
               ? ""
               : fmt::format("{0} can be replaced by others; run: chmod go-w {0}", path);
  }
  if (kind == KeyKind::secret && is_roots) {
    return (info.st_mode & 037U) == 0
               ? ""
               : fmt::format("{0} can be read by anyone or written by its group; run: chmod 640 {0}", path);
  }
  return (info.st_mode & 077U) == 0 ? "" : fmt::format("{0} can be read by others; run: chmod 600 {0}", path);
}

Result<std::string> read_key_file(std::filesystem::path const& path, KeyKind kind) {
  base::Descriptor const file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)};
  if (!file.is_open() && errno == ELOOP) {
    return Error{Errc::invalid, path.string() +
                                    " is a symbolic link; name the file itself, so that nobody else decides "
                                    "which one is read"};
  }
  if (!file.is_open()) return disk_error("cannot open", path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return disk_error("cannot inspect", path);
  auto const fault = key_file_fault(path.string(), kind, info, ::geteuid());
  if (!fault.empty()) return Error{Errc::invalid, fault};

  std::string bytes(kMaxKeyBytes + 1, '\0');
  auto const got = ::read(file.get(), bytes.data(), bytes.size());
  if (got < 0) return disk_error("cannot read", path);
  if (got > static_cast<ssize_t>(kMaxKeyBytes)) {
    return Error{Errc::invalid, path.string() + " is too large for a key"};
  }
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

// The file is written under another name and then linked, because link() fails if another process was first.
Result<void> create_key_file(std::filesystem::path const& path, std::string const& bytes) {
  auto const fresh = path.string() + "." + mint_uuid();
  auto const written = write_new(fresh, bytes);
  bool const linked = written.has_value() && (::link(fresh.c_str(), path.c_str()) == 0 || errno == EEXIST);
  Error const failure{Errc::unavailable, disk_error("cannot create", path).detail};
  ::unlink(fresh.c_str());
  if (!written) return written.error();
  if (!linked) return failure;

  base::Descriptor const directory{::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!directory.is_open() || ::fsync(directory.get()) != 0)
    return disk_error("cannot sync", path.parent_path());
  return {};
}

Result<std::string> open_own_secret(std::filesystem::path const& path, std::size_t size,
                                    std::function<std::string(std::string const&)> const& form) {
  auto secret = read_key_file(path, KeyKind::own_secret);
  if (secret || secret.error().code != Errc::not_found) return secret;
  std::string fresh(size, '\0');
  if (::getrandom(fresh.data(), fresh.size(), 0) != static_cast<ssize_t>(fresh.size())) {
    return Error{Errc::unavailable, "the system gives no random bytes"};
  }
  auto const created = create_key_file(path, form(fresh));
  if (!created) return created.error();
  return read_key_file(path, KeyKind::own_secret);
}

}  // namespace runnel::base
