#include "runnel/http/http_metrics.h"

#include <algorithm>
#include <string>

#include "runnel/protocol/wires.h"

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

std::vector<base::Counter> opened_counters(base::Metrics& metrics) {
  std::vector<base::Counter> out;
  for (auto const& wire : protocol::all_wires()) {
    bool const is_stream = wire.transport != protocol::Transport::poll;
    out.push_back(is_stream
                      ? metrics.counter("runnel_streams_opened_total", "Event streams and WebSockets opened.",
                                        {{"dialect", std::string{wire.name}}})
                      : base::Counter{});
  }
  return out;
}

constexpr char kDroppedHelp[] =
    "Connections closed because there are too many (refused), or to make room for others (evicted).";
constexpr char kDropped[] = "runnel_http_connections_dropped_total";

}  // namespace

HttpMetrics::HttpMetrics(base::Metrics& metrics)
    : connections{metrics.gauge("runnel_http_connections", "Connections open now.")},
      connections_refused{metrics.counter(kDropped, kDroppedHelp, {{"reason", "refused"}})},
      connections_evicted{metrics.counter(kDropped, kDroppedHelp, {{"reason", "evicted"}})},
      requests_in_flight{metrics.gauge("runnel_http_requests_in_flight",
                                       "Requests being answered now, not counting live streams.")},
      no_route{metrics, "any", "none"},
      auth_failures{
          metrics.counter("runnel_http_auth_failures_total", "Requests without a valid credential.")},
      stream_bytes{
          metrics.counter("runnel_stream_bytes_sent_total", "Bytes of streams that the kernel took.")},
      streams_{metrics.gauge("runnel_streams", "Event streams and WebSockets open now.")},
      streams_opened_{opened_counters(metrics)},
      streams_closed_{counters<kStreamEnds>(
          metrics, "runnel_streams_closed_total", "Event streams and WebSockets closed, by reason.", "reason",
          {"ended", "reconnect", "slow", "gone", "expired", "shutdown", "failed"})},
      rate_limited_{counters<kRateLimits>(
          metrics, "runnel_http_rate_limited_total",
          "Requests refused with 429, or 503 for all_body_bytes, by the "
          "limit that was reached.",
          "limit", {"requests", "streams", "runs", "body_bytes", "answer_bytes", "all_body_bytes"})} {}

void HttpMetrics::stream_opened(Wire wire) const {
  streams_.add();
  if (!streams_opened_.empty()) streams_opened_.at(static_cast<std::size_t>(wire)).add();
}

void HttpMetrics::stream_closed(StreamEnd end) const {
  streams_.subtract();
  streams_closed_[static_cast<std::size_t>(end)].add();
}

base::Histogram loop_lag(base::Metrics& metrics, std::size_t core) {
  return metrics.times("runnel_core_lag_seconds", "How late a core's timer fired, measured once per second.",
                       {100us, 500us, 1ms, 2500us, 5ms, 10ms, 25ms, 50ms, 100ms, 250ms, 1s},
                       {{"core", std::to_string(core)}});
}

}  // namespace runnel::http
