#pragma once

#include <cstdint>

namespace runnel::base {

// The wall clock, injected so that tests can choose the time. It may jump, so deadlines use
// std::chrono::steady_clock instead.
class Clock {
 public:
  Clock() = default;
  Clock(Clock const&) = delete;
  Clock& operator=(Clock const&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual std::int64_t now_us() const = 0;
  [[nodiscard]] std::int64_t now_ms() const { return now_us() / 1000; }
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t now_us() const override;
};

}  // namespace runnel::base
