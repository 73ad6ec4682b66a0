#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runnel/base/cores.h"
#include "runnel/core/ids.h"
#include "runnel/stream/subscriber.h"

namespace runnel::stream {

// One reader of a whole thread (RUN-15), which waits here between two runs. It belongs to one core.
//
// The reader calls clear(), looks for the next run in the store, and if there is none calls wait(). A run
// that begins in between is not missed: wait() then returns false, and the reader looks again.
class ThreadWatch {
 public:
  void clear() { told_ = false; }

  // From now on the subscriber is told, by one on_close(ended), when a run of the thread has begun. Returns
  // false if one has begun since clear().
  [[nodiscard]] bool wait(std::shared_ptr<Subscriber> subscriber) {
    if (told_) return false;
    waiting_ = std::move(subscriber);
    return true;
  }

  void tell() {
    told_ = true;
    if (auto const waiting = std::exchange(waiting_, nullptr)) waiting->on_close(CloseReason::ended);
  }

 private:
  bool told_ = false;
  std::shared_ptr<Subscriber> waiting_;
};

// The readers of whole threads on this node. Any thread may call. The lock is taken when a run begins and
// when such a reader comes or leaves, never for a token.
class ThreadWatches {
 public:
  explicit ThreadWatches(base::Cores& cores) : cores_{cores} {}

  // The caller's watch, on its core. The thread forgets it when the last copy is destroyed.
  std::shared_ptr<ThreadWatch> watch(ThreadKey thread);

  // To be called when a run of the thread has begun and can be read from the store, and when the thread is
  // deleted: whoever waits looks into the store.
  void tell(ThreadKey thread);

 private:
  struct Place {
    std::size_t core;
    std::weak_ptr<ThreadWatch> watch;
  };

  struct Table {
    std::mutex mutex;
    std::unordered_map<ThreadKey, std::vector<Place>> threads;
  };

  base::Cores& cores_;
  std::shared_ptr<Table> const table_ = std::make_shared<Table>();
};

}  // namespace runnel::stream
