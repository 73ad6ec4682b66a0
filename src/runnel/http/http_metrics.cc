#include "runnel/http/http_metrics.h"

#include <algorithm>

namespace runnel::http {

using namespace std::chrono_literals;

namespace {

// One counter for each value of the label, in the order of the values.
template <std::size_t Size>
std::array<base::Counter, Size> counters(base::Metrics& metrics, char const* name, char const* help,
                                         char const* label, std::array<char const*, Size> const& values) {
  std::array<base::Counter, Size> out;
  std::transform(values.begin(), values.end(), out.begin(), [&](char const* value) {
    return metrics.counter(name, help, {{label, value}});
  });
  return out;
}

constexpr char kDroppedHelp[] =
    "Connections closed unserved at the door (refused), or to make room (evicted).";
constexpr char kDropped[] = "runnel_http_connections_dropped_total";

}  // namespace

RouteMetrics::RouteMetrics(base::Metrics& metrics, std::string_view method, std::string const& pattern)
    : time_{metrics.times("runnel_http_request_seconds",
                          "Time from a request's whole head to the first byte of its answer.",
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

HttpMetrics::HttpMetrics(base::Metrics& metrics)
    : connections{metrics.level("runnel_http_connections", "Connections open now.")},
      connections_refused{metrics.counter(kDropped, kDroppedHelp, {{"reason", "refused"}})},
      connections_evicted{metrics.counter(kDropped, kDroppedHelp, {{"reason", "evicted"}})},
      requests_in_flight{metrics.level("runnel_http_requests_in_flight",
                                       "Requests being answered now, without streams that have gone live.")},
      no_route{metrics, "any", "none"},
      auth_failures{
          metrics.counter("runnel_http_auth_failures_total", "Requests without a valid credential.")},
      stream_bytes{
          metrics.counter("runnel_sse_sent_bytes_total", "Bytes of SSE streams that the kernel took.")},
      streams_{metrics.level("runnel_sse_streams", "SSE streams open now.")},
      streams_opened_{counters<kDialects>(metrics, "runnel_sse_streams_opened_total", "SSE streams begun.",
                                          "dialect", {"v2", "ag-ui-1.0", "ag-ui-0.0"})},
      streams_closed_{counters<kStreamEnds>(
          metrics, "runnel_sse_streams_closed_total", "SSE streams closed, by why.", "reason",
          {"ended", "reconnect", "slow", "gone", "expired", "shutdown", "failed"})},
      rate_limited_{counters<kRateLimits>(
          metrics, "runnel_http_rate_limited_total",
          "Requests refused with 429, or 503 for all_body_bytes, by the "
          "limit that was reached.",
          "limit", {"requests", "streams", "runs", "body_bytes", "answer_bytes", "all_body_bytes"})} {}

void HttpMetrics::stream_opened(Dialect dialect) const {
  streams_.add();
  streams_opened_[static_cast<std::size_t>(dialect)].add();
}

void HttpMetrics::stream_closed(StreamEnd end) const {
  streams_.subtract();
  streams_closed_[static_cast<std::size_t>(end)].add();
}

base::Histogram loop_lag(base::Metrics& metrics, std::size_t core) {
  return metrics.times("runnel_core_lag_seconds", "How late a core's timer came, once a second.",
                       {100us, 500us, 1ms, 2500us, 5ms, 10ms, 25ms, 50ms, 100ms, 250ms, 1s},
                       {{"core", std::to_string(core)}});
}

}  // namespace runnel::http
