#pragma once

#include "runnel/base/metrics/metrics.h"
#include "runnel/core/fact/fact.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// The metrics of runs. Default-constructed, it counts nothing.
struct RunMetrics {
  RunMetrics() = default;
  explicit RunMetrics(base::Metrics& metrics);

  [[nodiscard]] base::Counter const& ended(store::RunStatus status) const;
  [[nodiscard]] base::Counter const& call_ended(store::CallStatus status) const;
  [[nodiscard]] base::Counter const& tool_ended(ToolStatus status) const;

  base::Counter admitted;
  base::Counter taken_over;
  base::Gauge active;
  base::Gauge queued;
  base::Histogram admission_time;
  base::Counter facts;
  base::Counter deltas;
  base::Histogram fact_commit_time;
  base::Counter ignored_keys;
  base::Histogram call_time;
  base::Histogram first_token_time;
  base::Counter call_retries;
  base::Counter call_fallbacks;
  base::Counter input_tokens;
  base::Counter output_tokens;
  base::Histogram tool_time;
  base::Counter stages;
  base::Counter repairs;

 private:
  base::Counter completed_;
  base::Counter failed_;
  base::Counter canceled_;
  base::Counter calls_completed_;
  base::Counter calls_failed_;
  base::Counter calls_canceled_;
  base::Counter calls_interrupted_;
  base::Counter tools_succeeded_;
  base::Counter tools_succeeded_in_part_;
  base::Counter tools_failed_;
};

}  // namespace runnel::runtime
