#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace runnel::base {

// The pauses between attempts to use something that is down, such as the store. Each pause is twice as long
// as the one before, up to kLongest.
class Backoff {
 public:
  std::chrono::milliseconds next() { return std::exchange(pause_, std::min(pause_ * 2, kLongest)); }

  static constexpr std::chrono::milliseconds kLongest{1000};

 private:
  std::chrono::milliseconds pause_{50};
};

}  // namespace runnel::base
