#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "runnel/base/metrics/metrics.h"

namespace runnel::api {

// Counts the answers of one route. A default-constructed object counts nothing.
class RouteMetrics {
 public:
  RouteMetrics() = default;
  RouteMetrics(base::Metrics& metrics, std::string_view method, std::string const& pattern);

  // `took` is the time from when the request's head is complete to the first byte of the answer.
  void answered(int status, std::chrono::nanoseconds took) const;

 private:
  std::array<base::Counter, 4> by_class_;  // 2xx to 5xx.
  base::Histogram time_;
};

}  // namespace runnel::api
