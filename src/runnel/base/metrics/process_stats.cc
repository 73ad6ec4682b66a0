#include "runnel/base/metrics/process_stats.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "runnel/base/descriptor.h"

namespace runnel::base {
namespace {

double seconds_of(timeval const& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Opens the file with O_CLOEXEC. With a standard stream, programs that the process starts would inherit it.
std::istringstream read_text(char const* path) {
  Descriptor const file{::open(path, O_RDONLY | O_CLOEXEC)};
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; file.is_open() && (got = ::read(file.get(), piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(got));
  return std::istringstream{std::move(text)};
}

double boot_time_seconds() {
  auto file = read_text("/proc/stat");
  for (std::string key; file >> key; file.ignore(1'000'000, '\n')) {
    double seconds = 0;
    if (key == "btime" && file >> seconds) return seconds;
  }
  return 0;
}

// Field 22 of /proc/self/stat. The second field is in parentheses and may hold any characters.
double start_time_seconds() {
  auto file = read_text("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  auto const name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream rest{line.substr(name_end + 1)};
  std::string skipped;
  for (int field = 3; field < 22; ++field)
    rest >> skipped;
  double ticks = 0;
  rest >> ticks;
  return boot_time_seconds() + ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::int64_t count_open_fds() {
  std::error_code error;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator it{"/proc/self/fd", error}, end; !error && it != end;
       it.increment(error))
    ++count;
  return count == 0 ? 0 : count - 1;  // Without the descriptor that this listing itself has open.
}

}  // namespace

ProcessStats read_process_stats() {
  ProcessStats out;
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0)
    out.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  std::int64_t pages = 0;
  std::int64_t resident_pages = 0;
  if (auto file = read_text("/proc/self/statm"); file >> pages >> resident_pages) {
    out.virtual_bytes = pages * ::sysconf(_SC_PAGESIZE);
    out.resident_bytes = resident_pages * ::sysconf(_SC_PAGESIZE);
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) out.max_fds = static_cast<std::int64_t>(limit.rlim_cur);
  out.open_fds = count_open_fds();
  out.start_time_seconds = start_time_seconds();
  return out;
}

}  // namespace runnel::base
