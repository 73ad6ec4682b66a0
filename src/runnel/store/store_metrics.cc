#include "runnel/store/store_metrics.h"

namespace runnel::store {

using namespace std::chrono_literals;

namespace {
constexpr char kErrors[] = "runnel_store_errors_total";
constexpr char kErrorsHelp[] =
    "Database failures, by what failed: a whole group of writes, one write, or one read.";
}  // namespace

StoreMetrics::StoreMetrics(base::Metrics& metrics)
    : commit_time{metrics.times("runnel_store_commit_seconds", "Time to write and sync one group of writes.",
                                {250us, 500us, 1ms, 2500us, 5ms, 10ms, 25ms, 50ms, 100ms, 250ms, 1s, 5s})},
      group_size{metrics.sizes("runnel_store_group_size", "Writes that shared one commit.",
                               {1, 2, 4, 8, 16, 32, 64, 128})},
      queued{metrics.gauge("runnel_store_queue_depth", "Writes that wait for the next commit.")},
      wal_bytes{
          metrics.gauge("runnel_store_wal_bytes", "Size of the write-ahead log after the last commit.")},
      failed_groups{metrics.counter(kErrors, kErrorsHelp, {{"of", "group"}})},
      failed_intents{metrics.counter(kErrors, kErrorsHelp, {{"of", "write"}})},
      failed_reads{metrics.counter(kErrors, kErrorsHelp, {{"of", "read"}})} {}

}  // namespace runnel::store
