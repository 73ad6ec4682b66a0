#pragma once

#include "runnel/base/metrics.h"

namespace runnel::stream {

// Frames on their way to readers. Default: not counted.
struct StreamMetrics {
  StreamMetrics() = default;
  explicit StreamMetrics(base::Metrics& metrics);

  base::Counter live_frames;
  base::Counter stored_frames;
};

}  // namespace runnel::stream
