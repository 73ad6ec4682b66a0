#include "runnel/app/data_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <utility>

namespace runnel::app {

Result<void> DataDir::ensure(std::string const& path) {
  std::error_code error;
  bool const made = std::filesystem::create_directories(path, error);
  if (error)
    return Error{Errc::unavailable, fmt::format("cannot make the data folder {}: {}", path, error.message())};
  if (made) chmod(path.c_str(), 0700);
  return {};
}

Result<DataDir> DataDir::lock(std::string const& path) {
  auto const ensured = ensure(path);
  if (!ensured) return ensured.error();
  auto const file = path + "/runnel.lock";
  int const descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Error{Errc::unavailable, fmt::format("cannot open {}: {}", file, std::strerror(errno))};
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
