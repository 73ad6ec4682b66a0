#pragma once

#include "runnel/base/metrics.h"

namespace runnel::store {

// What a store counts. Default: nothing.
struct StoreMetrics {
  StoreMetrics() = default;
  explicit StoreMetrics(base::Metrics& metrics);

  base::Histogram commit_time;
  base::Histogram group_size;
  base::Level queued;
  base::Level wal_bytes;
  base::Counter failed_groups;
  base::Counter failed_intents;
  base::Counter failed_reads;
};

}  // namespace runnel::store
