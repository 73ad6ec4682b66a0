#pragma once

#include <cstdint>
#include <optional>

namespace runnel::runtime {

// The time that decides which rows are old enough to be deleted. It is the wall clock's time, unless that has
// run ahead of the monotonic clock: after a jump (a wrong answer from a time server, a mistyped date) every
// log would look old, and what is deleted cannot be restored. So a jump ahead counts only when it has lasted
// a day; until then the time follows the monotonic clock. All times are milliseconds.
class SweepClock {
 public:
  // `monotonic` may count from any point in time, and counts while the machine sleeps.
  std::int64_t now(std::int64_t wall, std::int64_t monotonic);

  // True if the wall clock is ahead and not believed.
  [[nodiscard]] bool is_ahead() const { return ahead_since_.has_value(); }

 private:
  std::optional<std::int64_t> offset_;  // Wall minus monotonic time, as last believed.
  std::optional<std::int64_t> ahead_since_;
};

// The monotonic clock for SweepClock.
std::int64_t milliseconds_since_boot();

}  // namespace runnel::runtime
