#pragma once

#include <cstdint>
#include <optional>

namespace runnel::runtime {

// The time by which old rows are deleted. It is the wall clock's, unless that has run ahead of the monotonic
// clock: after a jump (a wrong answer of a time server, a mistyped date) every log would look old, and what
// is deleted does not come back. So a jump ahead counts only when it has lasted a day; until then the time
// goes on as the monotonic clock does. All times are milliseconds.
class SweepClock {
 public:
  // `monotonic` counts from anywhere, also while the machine sleeps.
  std::int64_t now(std::int64_t wall, std::int64_t monotonic);

  // The wall clock is ahead, and not believed.
  [[nodiscard]] bool is_ahead() const { return ahead_since_.has_value(); }

 private:
  std::optional<std::int64_t> offset_;  // Of the wall clock that was believed last.
  std::optional<std::int64_t> ahead_since_;
};

// The monotonic clock for it.
std::int64_t milliseconds_since_boot();

}  // namespace runnel::runtime
