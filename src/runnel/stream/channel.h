#pragma once

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runnel/base/cores.h"
#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/run_names.h"
#include "runnel/core/fact/wire.h"
#include "runnel/stream/frames.h"
#include "runnel/stream/relay.h"
#include "runnel/stream/stream_metrics.h"
#include "runnel/stream/subscriber.h"

namespace runnel::stream {

// The live path of one run: its newest facts and its readers. The facts, their numbers and the list of
// readers belong to one core, which is also the core of the run's writer. Frames are encoded once for each
// wire in use, and handed in one post to each core that has readers of that wire.
//
// Readers of most wires see a fact when it is published. Readers of a wire that is durable only
// (Encoding::is_durable_only) see it when it is also durable.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  Channel(base::Cores& cores, std::size_t core, RunNames names, Encoding encoding, std::size_t keep_records,
          StreamMetrics metrics = {});
  Channel(Channel const&) = delete;
  Channel& operator=(Channel const&) = delete;

  [[nodiscard]] std::size_t core() const { return core_; }
  [[nodiscard]] RunNames const& names() const { return names_; }
  [[nodiscard]] boost::asio::io_context& context() { return cores_.at(core_); }

  // --- The writer, on `core()` only ---

  // A writer has claimed the run. Its facts follow `after_n`, and the log is durable up to there. This seals
  // older epochs: a reader that waits beyond their end continues with this epoch's first fact (SSE-4).
  void begin_epoch(Epoch epoch, std::uint64_t after_n);

  // Shows the records to the readers. Their numbers must continue without a gap. A terminal record closes the
  // readers that have seen it.
  void publish(std::vector<Record> records);

  // Facts up to `n`, all of which have been published, can be read from the store. The readers that waited
  // for this see them; then the oldest may be forgotten here.
  void set_durable(std::uint64_t n);

  // The number behind the newest polled event (TASK-3) that is shown to readers of what is durable; 0 if this
  // channel has shown none. From any thread. A reader on another core may get the event a moment later: it
  // has it after a turn of the channel's core and then one of its own.
  [[nodiscard]] std::int64_t shown_idx() const { return shown_idx_.load(std::memory_order_acquire); }

  // Whether somebody waits for facts to become durable.
  [[nodiscard]] bool has_durable_readers() const;

  // To be called when the store refuses the writer's facts. Closes all readers without a terminal record.
  // Until `go_on`, readers that attach get what is durable and then wait.
  void hold();
  void go_on();

  // No writer will come: the end of the run is in the store, and readers are sent there.
  void retire();

  // --- Readers, from any core ---

  struct Attach {
    Position after;  // {0, 0} is the start. A reader with a number ahead of the log waits for the log.
    Wire wire{};
    std::size_t core = 0;  // The core of `subscriber`.
    std::shared_ptr<Subscriber> subscriber;
    bool wait_for_writer = true;  // If false, a run without a writer here gives 0.
    bool until_pause = false;     // The stream is complete when the run pauses behind `after` (AGUI-4).
  };

  // Returns the reader's id; from then on the reader gets everything that follows `after`. Returns 0 if the
  // facts right after it are not here: the caller must read them from the store, which has all of them, and
  // attach again.
  boost::asio::awaitable<ReaderId> attach(Attach request);

  // Has no effect for a reader that has been closed. A call that is under way on the reader's core may still
  // reach it.
  void detach(ReaderId reader);

 private:
  struct Reader {
    Wire wire;
    std::size_t core;
    // Set while the reader waits for the log to reach `after`; otherwise the relay has the subscriber.
    std::shared_ptr<Subscriber> waiting;
    Position after;
    bool until_pause = false;
  };
  struct Slot {
    std::shared_ptr<Relay> relay;
    std::size_t readers = 0;
  };

  boost::asio::awaitable<ReaderId> attach_here(Attach request);
  [[nodiscard]] bool is_durable_only(Wire wire) const {
    return encoding_.is_durable_only != nullptr && encoding_.is_durable_only(wire);
  }
  // The newest fact that readers of this wire may see.
  [[nodiscard]] std::uint64_t end_for(Wire wire) const {
    return is_durable_only(wire) ? durable_n_ : last_n_;
  }
  // Whether readers of this wire have the run's terminal fact.
  [[nodiscard]] bool is_over_for(Wire wire) const { return ended_ && end_for(wire) == last_n_; }
  [[nodiscard]] bool covers(Wire wire, std::uint64_t after_n) const;
  // The frames of the facts behind `after_n` that readers of this wire may see.
  [[nodiscard]] Frames encode_after(Wire wire, std::uint64_t after_n) const;
  Slot& slot(std::size_t core, Wire wire) {
    return slots_[core * encoding_.wires + static_cast<std::size_t>(wire)];
  }
  void go_live(ReaderId id, Reader& reader, std::shared_ptr<Subscriber> subscriber);
  void serve_waiting();
  // Shows the facts behind `after_n` to the readers of all wires of that kind.
  void fan_out(bool durable_only, std::uint64_t after_n);
  void close_all(CloseReason reason);
  // Closes the readers that have the terminal fact.
  void close_ended();
  void close_slot(std::size_t index, CloseReason reason);
  // Closes the readers whose stream is complete at this pause: not those that have seen it in another stream.
  void close_paused();
  void note_shown_idx();
  void detach_here(ReaderId id);
  void forget_old();
  template <class Call>
  void on_core(std::size_t core, Call call);

  base::Cores& cores_;
  std::size_t const core_;
  RunNames const names_;
  Encoding const encoding_;
  std::size_t const keep_records_;
  StreamMetrics const metrics_;

  Epoch epoch_ = 0;  // 0 if no writer has come yet.
  std::uint64_t epoch_after_ = 0;
  std::uint64_t last_n_ = 0;
  std::uint64_t durable_n_ = 0;
  std::atomic<std::int64_t> shown_idx_{0};
  bool ended_ = false;
  bool paused_ = false;  // The last fact is a pause.
  bool holding_ = false;
  bool retired_ = false;
  std::deque<Record> ring_;
  ReaderId last_reader_ = 0;
  std::size_t waiting_ = 0;
  std::unordered_map<ReaderId, Reader> readers_;
  std::vector<Slot> slots_;  // By core, then by wire.
};

}  // namespace runnel::stream
