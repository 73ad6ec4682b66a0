#pragma once

#include <boost/asio/awaitable.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runnel/base/cores.h"
#include "runnel/core/dialect.h"
#include "runnel/core/fact.h"
#include "runnel/core/run_names.h"
#include "runnel/stream/relay.h"
#include "runnel/stream/stream_metrics.h"
#include "runnel/stream/subscriber.h"

namespace runnel::stream {

// Appends at most one frame for the record (WIRE-1). Given by the wiring: this room does not know the wires.
using Encode = void (*)(Dialect, RunNames const&, Record const&, std::string& out);

// The live path of one run: its newest facts and its readers. The facts, numbers and the list of readers live
// on one core, where the run's writer lives too. Frames are encoded once for each dialect in use and handed
// to each core that has readers of it in one post.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  Channel(base::Cores& cores, std::size_t core, RunNames names, Encode encode, std::size_t keep_records,
          StreamMetrics metrics = {});
  Channel(Channel const&) = delete;
  Channel& operator=(Channel const&) = delete;

  [[nodiscard]] std::size_t core() const { return core_; }
  [[nodiscard]] RunNames const& names() const { return names_; }
  [[nodiscard]] boost::asio::io_context& context() { return cores_.at(core_); }

  // --- The writer, on `core()` only ---

  // A writer has claimed the run; its facts follow `after_n`, up to which the log is durable. Seals older
  // epochs: a reader that waits beyond their end goes on with this epoch's first fact (SSE-4).
  void begin_epoch(Epoch epoch, std::uint64_t after_n);

  // Shows the records, which continue the numbers without a gap. A terminal one ends all readers.
  void publish(std::vector<Record> records);

  // Facts up to `n` can be read from the store, so the oldest of them may be forgotten here.
  void set_durable(std::uint64_t n);

  // The store refuses what the writer brings: ends all readers without a terminal, and until `go_on` those
  // that come (back) get what is durable and then wait.
  void hold();
  void go_on();

  // No writer will come any more: the end is in the store, and readers are sent there.
  void retire();

  // --- Readers, from any core ---

  struct Attach {
    Position after;  // {0, 0}: from the start. A number ahead of the log waits for the log to reach it.
    Dialect dialect = Dialect::v2;
    std::size_t core = 0;  // Where `subscriber` lives.
    std::shared_ptr<Subscriber> subscriber;
    bool wait_for_writer = true;  // False: a run that has no writer here yet counts as "no longer here".
  };

  // The reader's id once it gets all that follows `after`; 0: facts right after it are no longer here, read
  // them from the store (where they all are) and attach again.
  boost::asio::awaitable<ReaderId> attach(Attach request);

  // Harmless for a reader that has been closed. A call that is under way on the reader's core may still reach
  // it.
  void detach(ReaderId reader);

 private:
  struct Reader {
    Dialect dialect;
    std::size_t core;
    std::shared_ptr<Subscriber>
        waiting;  // Set while it waits for the log to reach `after`; otherwise in its relay.
    Position after;
  };
  struct Slot {
    std::shared_ptr<Relay> relay;
    std::size_t readers = 0;
  };

  boost::asio::awaitable<ReaderId> attach_here(Attach request);
  [[nodiscard]] bool covers(std::uint64_t after_n) const;
  // How many frames it appended: one or none.
  int append_frame(Dialect dialect, Record const& record, std::string& out) const;
  [[nodiscard]] Bytes encode_after(Dialect dialect, std::uint64_t after_n) const;
  Slot& slot(std::size_t core, Dialect dialect) { return slots_[core][static_cast<std::size_t>(dialect)]; }
  void go_live(ReaderId id, Reader& reader, std::shared_ptr<Subscriber> subscriber, Bytes first);
  void serve_waiting();
  void fan_out(std::vector<Record> const& records);
  void close_all(CloseReason reason);
  void detach_here(ReaderId id);
  void forget_old();
  template <class Call>
  void on_core(std::size_t core, Call call);

  base::Cores& cores_;
  std::size_t const core_;
  RunNames const names_;
  Encode const encode_;
  std::size_t const keep_records_;
  StreamMetrics const metrics_;

  Epoch epoch_ = 0;  // 0: no writer has come yet.
  std::uint64_t epoch_after_ = 0;
  std::uint64_t last_n_ = 0;
  std::uint64_t durable_n_ = 0;
  bool ended_ = false;
  bool holding_ = false;
  bool retired_ = false;
  std::deque<Record> ring_;
  ReaderId last_reader_ = 0;
  std::size_t waiting_ = 0;
  std::unordered_map<ReaderId, Reader> readers_;
  std::vector<std::array<Slot, kDialects>> slots_;  // By core.
};

}  // namespace runnel::stream
