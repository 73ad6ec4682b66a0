#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "runnel/base/cancel.h"
#include "runnel/base/metrics/metrics.h"
#include "runnel/core/ids.h"
#include "runnel/stream/channel.h"

namespace runnel::runtime {

// A run whose writer is in this process.
struct LiveRun {
  std::shared_ptr<stream::Channel> channel;  // Also keeps the run's readers on one channel.
  std::shared_ptr<base::Cancel> cancel;      // Used on the channel's core only.
};

// The runs that this process is writing. May be called on any thread.
class LiveRuns {
 public:
  // `active` shows how many there are.
  explicit LiveRuns(base::Gauge active) : active_{active} {}

  void add(RunKey run, LiveRun live);
  // Has no effect if another writer has been added under the same key meanwhile.
  void remove(RunKey run, std::shared_ptr<base::Cancel> const& cancel);

  // Asks the run's writer to stop, on its core. If the run is not here yet but is added within a minute, its
  // writer is asked then: a cancel may come between a run's admission and its start.
  void cancel(RunKey run, base::CancelReason reason);
  void cancel_all(base::CancelReason reason);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool has(RunKey run) const;

  // Blocks until no run is left or the time is over. Returns true if none is left.
  bool wait_until_idle(std::chrono::milliseconds limit);

 private:
  base::Gauge const active_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::unordered_map<RunKey, LiveRun> runs_;
  struct Early {
    base::CancelReason reason;
    std::chrono::steady_clock::time_point asked;
  };
  std::unordered_map<RunKey, Early> early_;
};

}  // namespace runnel::runtime
