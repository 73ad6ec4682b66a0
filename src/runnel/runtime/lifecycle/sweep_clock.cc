#include "runnel/runtime/lifecycle/sweep_clock.h"

#include <ctime>

namespace runnel::runtime {

namespace {

constexpr std::int64_t kSlack = 60'000;  // A correction of the clock up to this is no jump.
constexpr std::int64_t kBelievedAfter = std::int64_t{24} * 3600'000;  // A jump that lasts this long counts.

}  // namespace

std::int64_t SweepClock::now(std::int64_t wall, std::int64_t monotonic) {
  auto const offset = wall - monotonic;
  bool const ahead = offset_ && offset > *offset_ + kSlack;
  if (!ahead) {
    ahead_since_.reset();
  } else if (!ahead_since_) {
    ahead_since_ = monotonic;
  }
  if (ahead && monotonic - *ahead_since_ < kBelievedAfter) return monotonic + *offset_;
  ahead_since_.reset();
  offset_ = offset;
  return wall;
}

std::int64_t milliseconds_since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace runnel::runtime
