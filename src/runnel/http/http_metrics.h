#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runnel/api/route_metrics.h"
#include "runnel/base/metrics/metrics.h"
#include "runnel/core/fact/wire.h"

namespace runnel::http {

// Why an SSE stream closed.
enum class StreamEnd : std::uint8_t {
  ended,      // After the terminal frame.
  reconnect,  // The server asked the reader to reconnect.
  slow,       // The reader did not keep up.
  gone,       // The reader disconnected.
  expired,    // The reader's token expired.
  shutdown,
  failed,
};
inline constexpr std::size_t kStreamEnds = 7;

// Which limit refused a request (HTTP-6, HTTP-9).
enum class RateLimit : std::uint8_t { requests, streams, runs, body_bytes, answer_bytes, all_body_bytes };
inline constexpr std::size_t kRateLimits = 6;

// What the HTTP server counts besides its routes. A default-constructed object counts nothing.
class HttpMetrics {
 public:
  HttpMetrics() = default;
  explicit HttpMetrics(base::Metrics& metrics);

  void stream_opened(Wire wire) const;
  void stream_closed(StreamEnd end) const;
  [[nodiscard]] base::Counter const& rate_limited(RateLimit limit) const {
    return rate_limited_[static_cast<std::size_t>(limit)];
  }

  base::Gauge connections;
  base::Counter connections_refused;  // Because there were too many.
  base::Counter connections_evicted;  // To make room for others.
  base::Gauge requests_in_flight;
  api::RouteMetrics no_route;  // For requests that no route takes.
  base::Counter auth_failures;
  base::Counter stream_bytes;

 private:
  base::Gauge streams_;
  std::vector<base::Counter> streams_opened_;  // By wire.
  std::array<base::Counter, kStreamEnds> streams_closed_;
  std::array<base::Counter, kRateLimits> rate_limited_;
};

// How late a core's timer fires, which is how long any event on that core waits.
base::Histogram loop_lag(base::Metrics& metrics, std::size_t core);

}  // namespace runnel::http
