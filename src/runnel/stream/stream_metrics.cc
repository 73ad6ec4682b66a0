#include "runnel/stream/stream_metrics.h"

namespace runnel::stream {

namespace {
constexpr char kFrames[] = "runnel_stream_frames_total";
constexpr char kHelp[] =
    "Frames given to readers, from memory as they came (live) or from the store (stored).";
}  // namespace

StreamMetrics::StreamMetrics(base::Metrics& metrics)
    : live_frames{metrics.counter(kFrames, kHelp, {{"from", "live"}})},
      stored_frames{metrics.counter(kFrames, kHelp, {{"from", "stored"}})} {}

}  // namespace runnel::stream
