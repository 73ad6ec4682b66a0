#pragma once

#include "runnel/base/metrics/metrics.h"

namespace runnel::stream {

// Counts the frames given to readers. A default-constructed object counts nothing.
struct StreamMetrics {
  StreamMetrics() = default;
  explicit StreamMetrics(base::Metrics& metrics);

  base::Counter live_frames;
  base::Counter stored_frames;
};

}  // namespace runnel::stream
