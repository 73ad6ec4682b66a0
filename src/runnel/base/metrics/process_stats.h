#pragma once

#include <cstdint>

namespace runnel::base {

// What the system reports about this process. A value that it does not report is 0.
struct ProcessStats {
  double cpu_seconds = 0;
  double start_time_seconds = 0;  // Since 1970.
  std::int64_t resident_bytes = 0;
  std::int64_t virtual_bytes = 0;
  std::int64_t open_fds = 0;
  std::int64_t max_fds = 0;
};

// Reads /proc. If many descriptors are open, it takes milliseconds.
ProcessStats read_process_stats();

}  // namespace runnel::base
