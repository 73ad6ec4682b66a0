#include "runnel/base/clock.h"

#include <chrono>

namespace runnel::base {

std::int64_t SystemClock::now_us() const {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace runnel::base
