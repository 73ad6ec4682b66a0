#include "runnel/app/data_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "runnel/base/descriptor.h"

namespace runnel::app {
namespace {

constexpr char kLockFile[] = "runnel.lock";

Error unsafe(std::string detail) {
  return {Errc::invalid, std::move(detail)};
}

// Without this, a symbolic link would be followed if its name ends with a slash.
std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return path;
}

Result<void> check_folder(std::string const& path, int folder) {
  struct stat info {};
  if (::fstat(folder, &info) != 0) {
    return Error{Errc::unavailable, fmt::format("cannot look at {}: {}", path, std::strerror(errno))};
  }
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return unsafe(
        fmt::format("the data folder {} belongs to user {}, not to user {} or root: run as its owner, or "
                    "choose another folder with --data-dir",
                    path, info.st_uid, ::geteuid()));
  }
  if ((info.st_mode & 077U) != 0) {
    return unsafe(fmt::format("the data folder {0} is open to others; run: chmod 700 {0}", path));
  }
  return {};
}

// The folder is closed to others, so nobody can put a link there after this check.
Result<void> check_no_links(std::string const& path, int folder) {
  for (auto const* name : {"runnel.db", "runnel.db-wal", "runnel.db-shm", kLockFile}) {
    struct stat info {};
    bool const is_there = ::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && !S_ISREG(info.st_mode)) {
      return unsafe(fmt::format(
          "{}/{} is a symbolic link or not a regular file; the data folder must hold the file itself", path,
          name));
    }
  }
  return {};
}

// Opens the folder, and creates it first if it does not exist.
Result<int> open_folder(std::string const& path) {
  std::error_code error;
  bool const made = std::filesystem::create_directories(path, error);
  if (error) {
    return Error{Errc::unavailable,
                 fmt::format("cannot create the data folder {}: {}", path, error.message())};
  }
  if (made) ::chmod(path.c_str(), 0700);
  int const folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0) return folder;
  if (std::filesystem::is_symlink(path, error)) {
    return unsafe(fmt::format("the data folder {} is a symbolic link; name the folder itself: {}", path,
                              std::filesystem::canonical(path, error).string()));
  }
  return Error{Errc::unavailable,
               fmt::format("cannot open the data folder {}: {}", path, std::strerror(errno))};
}

Result<int> open_checked(std::string const& path) {
  auto const folder = open_folder(path);
  if (!folder) return folder.error();
  base::Descriptor kept{*folder};
  for (auto const& checked : {check_folder(path, *folder), check_no_links(path, *folder)}) {
    if (!checked) return checked.error();
  }
  return kept.release();
}

}  // namespace

Result<void> DataDir::ensure(std::string const& path) {
  auto const folder = open_checked(without_slashes(path));
  if (!folder) return folder.error();
  ::close(*folder);
  return {};
}

Result<DataDir> DataDir::lock(std::string const& path) {
  auto const opened = open_checked(without_slashes(path));
  if (!opened) return opened.error();
  base::Descriptor const folder{*opened};
  int const descriptor = ::openat(folder.get(), kLockFile, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Error{Errc::unavailable,
                 fmt::format("cannot open {}/{}: {}", path, kLockFile, std::strerror(errno))};
  }
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor);
    return Error{Errc::conflict,
                 fmt::format("another runnel serves the data folder {}: stop it, or choose another "
                             "folder with --data-dir",
                             path)};
  }
  return DataDir{descriptor};
}

DataDir::DataDir(DataDir&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}

DataDir::~DataDir() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace runnel::app
