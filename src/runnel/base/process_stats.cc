#include "runnel/base/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace runnel::base {
namespace {

double seconds_of(timeval const& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double boot_time_seconds() {
  std::ifstream file{"/proc/stat"};
  for (std::string key; file >> key; file.ignore(1'000'000, '\n')) {
    double seconds = 0;
    if (key == "btime" && file >> seconds) return seconds;
  }
  return 0;
}

// Field 22 of /proc/self/stat; the second one is in parentheses and may hold anything.
double start_time_seconds() {
  std::ifstream file{"/proc/self/stat"};
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
  return count == 0 ? 0 : count - 1;  // Without the one that this listing has open.
}

}  // namespace

ProcessStats read_process_stats() {
  ProcessStats out;
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0)
    out.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  std::int64_t pages = 0;
  std::int64_t resident_pages = 0;
  if (std::ifstream file{"/proc/self/statm"}; file >> pages >> resident_pages) {
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
