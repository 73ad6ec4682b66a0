#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runnel/base/metrics.h"
#include "runnel/core/dialect.h"

namespace runnel::http {

// Why an SSE stream closed.
enum class StreamEnd : std::uint8_t {
  ended,      // After the terminal frame.
  reconnect,  // The server asked the reader to come again.
  slow,       // The reader did not keep up.
  gone,       // The reader left.
  expired,    // Its token did.
  shutdown,
  failed,
};
inline constexpr std::size_t kStreamEnds = 7;

// Which limit refused a request (HTTP-6, HTTP-9).
enum class RateLimit : std::uint8_t { requests, streams, runs, body_bytes, answer_bytes, all_body_bytes };
inline constexpr std::size_t kRateLimits = 6;

// The answers of one route. Default: not counted.
class RouteMetrics {
 public:
  RouteMetrics() = default;
  RouteMetrics(base::Metrics& metrics, std::string_view method, std::string const& pattern);

  // `took`: from the request's whole head to the answer's first byte.
  void answered(int status, std::chrono::nanoseconds took) const;

 private:
  std::array<base::Counter, 4> by_class_;  // 2xx to 5xx.
  base::Histogram time_;
};

// What the HTTP server counts beside its routes. Default: nothing.
class HttpMetrics {
 public:
  HttpMetrics() = default;
  explicit HttpMetrics(base::Metrics& metrics);

  void stream_opened(Dialect dialect) const;
  void stream_closed(StreamEnd end) const;
  [[nodiscard]] base::Counter const& rate_limited(RateLimit limit) const {
    return rate_limited_[static_cast<std::size_t>(limit)];
  }

  base::Level connections;
  base::Counter connections_refused;  // At the door, because there are too many.
  base::Counter connections_evicted;  // To make room for others.
  base::Level requests_in_flight;
  RouteMetrics no_route;  // Of requests that no route takes.
  base::Counter auth_failures;
  base::Counter stream_bytes;

 private:
  base::Level streams_;
  std::array<base::Counter, kDialects> streams_opened_;
  std::array<base::Counter, kStreamEnds> streams_closed_;
  std::array<base::Counter, kRateLimits> rate_limited_;
};

// How late a core's timer comes: what any event on that core waits for.
base::Histogram loop_lag(base::Metrics& metrics, std::size_t core);

}  // namespace runnel::http
