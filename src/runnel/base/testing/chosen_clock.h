#pragma once

#include <cstdint>

#include "runnel/base/clock.h"

namespace runnel::base {

// A clock that shows the time that a test sets.
class ChosenClock final : public Clock {
 public:
  explicit ChosenClock(std::int64_t unix_ms = 1'800'000'000'000) : now{unix_ms} {}
  [[nodiscard]] std::int64_t now_us() const override { return now * 1000; }

  std::int64_t now;  // UNIX milliseconds.
};

}  // namespace runnel::base
