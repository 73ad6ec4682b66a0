#include "runnel/api/route_metrics.h"

#include <algorithm>

namespace runnel::api {

using namespace std::chrono_literals;

RouteMetrics::RouteMetrics(base::Metrics& metrics, std::string_view method, std::string const& pattern)
    : time_{metrics.times("runnel_http_request_seconds",
                          "Time from when a request's head is complete to the first byte of its answer.",
                          {500us, 1ms, 2500us, 5ms, 10ms, 25ms, 50ms, 100ms, 250ms, 1s, 5s},
                          {{"method", std::string{method}}, {"route", pattern}})} {
  for (std::size_t i = 0; i < by_class_.size(); ++i) {
    by_class_[i] = metrics.counter(
        "runnel_http_requests_total", "Requests answered.",
        {{"method", std::string{method}}, {"route", pattern}, {"status", std::to_string(i + 2) + "xx"}});
  }
}

void RouteMetrics::answered(int status, std::chrono::nanoseconds took) const {
  by_class_[static_cast<std::size_t>(std::clamp(status / 100, 2, 5) - 2)].add();
  time_.observe(took);
}

}  // namespace runnel::api
