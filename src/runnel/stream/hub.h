#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/stream/channel.h"
#include "runnel/stream/thread_watch.h"

namespace runnel::stream {

// The channels of the runs that have a writer or a reader here. Any thread may call it. The lock is taken
// when a run or a reader begins, never for a token.
class Hub {
 public:
  Hub(base::Cores& cores, Encoding encoding, std::size_t keep_records, StreamMetrics metrics = {});

  // The run's channel, which is created if there is none. A new channel is placed on the caller's core, so
  // that a client that starts a run and reads it needs no hop between cores per token, unless that core has
  // more than its share. The channel lives as long as someone holds it. A reader must open it before it looks
  // at the store: if the store then says that the run has not ended, its facts will come through this
  // channel.
  std::shared_ptr<Channel> open(RunKey run, RunNames names);

  // Who waits for the next run of a thread.
  [[nodiscard]] ThreadWatches& threads() { return threads_; }

  [[nodiscard]] Encoding const& encoding() const { return encoding_; }
  [[nodiscard]] StreamMetrics const& metrics() const { return metrics_; }

 private:
  struct Table {
    std::mutex mutex;
    std::unordered_map<RunKey, std::weak_ptr<Channel>> channels;
    std::vector<std::size_t> on_core;  // The number of channels on each core.
  };

  [[nodiscard]] std::size_t choose_core() const;

  base::Cores& cores_;
  Encoding const encoding_;
  std::size_t const keep_records_;
  StreamMetrics const metrics_;
  ThreadWatches threads_;
  std::shared_ptr<Table> const table_ = std::make_shared<Table>();
};

}  // namespace runnel::stream
