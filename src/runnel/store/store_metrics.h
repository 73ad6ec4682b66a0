#pragma once

#include "runnel/base/metrics/metrics.h"

namespace runnel::store {

// The metrics of a store. A default-constructed object counts nothing.
struct StoreMetrics {
  StoreMetrics() = default;
  explicit StoreMetrics(base::Metrics& metrics);

  base::Histogram commit_time;
  base::Histogram group_size;
  base::Gauge queued;
  base::Gauge wal_bytes;
  base::Counter failed_groups;
  base::Counter failed_intents;
  base::Counter failed_reads;
};

}  // namespace runnel::store
