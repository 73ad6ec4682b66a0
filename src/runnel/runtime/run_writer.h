#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/base/clock.h"
#include "runnel/base/event.h"
#include "runnel/base/task_group.h"
#include "runnel/core/fact.h"
#include "runnel/core/fact_order.h"
#include "runnel/runtime/closing.h"
#include "runnel/runtime/commit_rows.h"
#include "runnel/runtime/run_metrics.h"
#include "runnel/store/store.h"
#include "runnel/stream/channel.h"

namespace runnel::runtime {

// The end of a run, beside its terminal fact.
struct RunEnd {
  store::RunStatus status = store::RunStatus::completed;
  std::string error_code;
  std::string error_id;

  explicit RunEnd(store::RunStatus s, std::string code = {}, std::string id = {})
      : status{s}, error_code{std::move(code)}, error_id{std::move(id)} {}
};

// RUN-4.
inline RunEnd canceled_end() {
  return RunEnd{store::RunStatus::canceled, "RUN_CANCELED"};
}

// The only way facts of a run come into being: numbers them, refuses an order that no dialect could show,
// makes them durable and shows them. Durable before visible, and the durable log is always a prefix (SSE-7):
// deltas are shown at once and written in batches, at the latest with the next other fact, which nobody sees
// before its commit.
//
// Where the store cannot be written, it lets the readers go, once (those that come back get what is durable,
// and wait), tries again until it can, and only then goes on (DB-3). A shutdown ends the trying with
// `unavailable`. What it holds unwritten is bounded, if whoever shows deltas waits for room. Lives on its
// channel's core.
class RunWriter : public std::enable_shared_from_this<RunWriter> {
 public:
  struct Options {
    std::chrono::milliseconds delta_flush{100};
    RunMetrics metrics{};
    // Bytes of the log. What waits is written as one row, and each reader of a replay holds a whole one.
    std::size_t max_unwritten = std::size_t{256} * 1024;
  };
  struct Start {
    RunKey run;
    Epoch epoch = 0;
    std::uint64_t last_n = 0;
    std::int64_t next_idx = 0;
    FactOrder order;  // After the log so far.

    Start(RunKey r, Epoch e, std::uint64_t n, std::int64_t idx, FactOrder o)
        : run{r}, epoch{e}, last_n{n}, next_idx{idx}, order{std::move(o)} {}
  };

  RunWriter(store::Store& store, base::Clock const& clock, base::TaskGroup& tasks,
            std::shared_ptr<stream::Channel> channel, std::shared_ptr<base::Cancel> cancel, Start start,
            Options options);

  [[nodiscard]] FactOrder const& order() const { return head_.order; }
  [[nodiscard]] Epoch epoch() const { return epoch_; }
  [[nodiscard]] RunNames const& names() const { return channel_->names(); }
  [[nodiscard]] boost::asio::io_context& context() const { return channel_->context(); }

  // How the run ended; none: not by this writer.
  [[nodiscard]] std::optional<RunEnd> const& end_written() const { return end_written_; }

  // Nothing more can be written: the next writer goes on.
  [[nodiscard]] bool has_failed() const { return failure_.has_value(); }

  // Shows deltas. Fails with `internal` on a wrong order, and with what a background write failed with
  // before.
  Result<void> show(std::vector<Fact> deltas);

  // False: as much as may be is unwritten, or the store refuses. Then who shows deltas waits, and takes no
  // more of them from the model.
  [[nodiscard]] bool has_room() const {
    return !refused_ && head_.pending.body.size() + in_flight_bytes_ < options_.max_unwritten;
  }

  // Returns when there is room, when writing has failed for good, or when the run is asked to stop.
  boost::asio::awaitable<void> wait_for_room();

  // When it returns, the facts and rows are durable and the facts are shown. `fenced`: another writer has the
  // run. On a wrong order, or where rows come without a fact that tells of them, it fails with `internal`,
  // and nothing more can be written: the next writer goes on.
  boost::asio::awaitable<Result<void>> commit(std::vector<Fact> facts, CommitRows rows);

  // `commit` whose last fact is the terminal. `if_canceled` is written and shown instead, as `canceled_end`,
  // where a cancel was accepted before the store has written the other (RUN-4).
  boost::asio::awaitable<Result<store::Ended>> end(std::vector<Fact> facts, CommitRows rows, RunEnd end,
                                                   std::optional<Closing> if_canceled = std::nullopt);

  // Writes the deltas that are still pending, if the store lets it, and stops all background work. Nothing
  // may be written afterwards.
  boost::asio::awaitable<void> close();

 private:
  // What is not yet durable: all facts in `body`, those not yet shown also as records.
  struct Batch {
    std::uint64_t first_n = 0;
    std::chrono::steady_clock::time_point first_at;
    std::int64_t deltas = 0;
    std::string body;
    std::vector<Record> unshown;
    CommitRows rows;
  };

  // Where the log ends with what is numbered. A copy lets a run be ended in two ways.
  struct Head {
    FactOrder order;
    std::uint64_t last_n = 0;
    std::int64_t next_idx = 0;
    Batch pending;
  };

  Result<Record> number(Head& head, Fact fact);
  Result<void> enqueue(Head& head, std::vector<Fact> facts, CommitRows rows);
  [[nodiscard]] store::AppendRequest make_append(Head& head) const;
  store::AppendRequest take();
  store::EndRequest take_end(RunEnd const& end, std::optional<Head>& other);
  void ended_instead(Head other);
  boost::asio::awaitable<Result<void>> flush_to(std::uint64_t n);
  boost::asio::awaitable<void> flush_deltas();
  boost::asio::awaitable<Result<void>> append_until_written(store::AppendRequest request);
  boost::asio::awaitable<Result<store::Ended>> end_until_written(store::EndRequest request);
  boost::asio::awaitable<bool> wait_for_store(Error error, std::chrono::milliseconds pause);
  void written(std::uint64_t last_n);
  void count_written(std::uint64_t last_n);
  void failed(Error error);
  void arm_flush();
  void hurry_flush();

  store::Store& store_;
  base::Clock const& clock_;
  base::TaskGroup& tasks_;
  std::shared_ptr<stream::Channel> const channel_;
  std::shared_ptr<base::Cancel> const cancel_;
  RunKey const run_;
  Epoch const epoch_;
  Options const options_;

  Head head_;
  std::uint64_t durable_n_;
  std::vector<Record> in_flight_;  // Not yet shown, being written.
  std::chrono::steady_clock::time_point in_flight_since_;
  std::int64_t in_flight_deltas_ = 0;
  std::size_t in_flight_bytes_ = 0;
  bool writing_ = false;
  bool refused_ = false;  // By the store, at the last try.
  bool flush_armed_ = false;
  bool flush_hurried_ = false;
  bool closed_ = false;
  std::optional<Error> failure_;
  std::optional<RunEnd> end_written_;
  base::Event changed_;
  boost::asio::steady_timer flush_timer_;
};

}  // namespace runnel::runtime
