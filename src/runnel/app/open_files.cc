#include "runnel/app/open_files.h"

#include <sys/resource.h>

#include <algorithm>

#include "runnel/base/log/log.h"

namespace runnel::app {

namespace {
constexpr std::size_t kReserve = 256;
constexpr std::size_t kUnlimited = 1'000'000;
}  // namespace

std::size_t raise_open_files_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kReserve;
  rlimit const raised{limit.rlim_max, limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return std::min<std::size_t>(limit.rlim_cur, kUnlimited);
}

std::size_t connection_cap(std::int64_t wanted, std::size_t open_files) {
  // If the limit is small, the reserve is half of it.
  auto const possible = open_files - std::min(kReserve, open_files / 2);
  if (wanted <= 0) return possible;
  auto const asked = static_cast<std::size_t>(wanted);
  if (asked > possible) {
    base::log(base::LogLevel::warn, "http.max_connections is more than the limit on open files allows",
              {{"wanted", wanted}, {"allowed", static_cast<std::int64_t>(possible)}});
  }
  return std::min(asked, possible);
}

}  // namespace runnel::app
