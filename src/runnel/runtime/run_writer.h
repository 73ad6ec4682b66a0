#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
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

// The only way facts of a run come into being: numbers them, refuses an order that no dialect could show,
// makes them durable and shows them. Durable before visible, and the durable log is always a prefix (SSE-7):
// deltas are shown at once and written in batches, at the latest with the next other fact, which nobody sees
// before its commit.
//
// Where the store cannot be written, it lets the readers go (they resume later), tries again until it can,
// and only then goes on (DB-3). A shutdown ends the trying with `unavailable`. Lives on its channel's core.
class RunWriter : public std::enable_shared_from_this<RunWriter> {
 public:
  struct Options {
    std::chrono::milliseconds delta_flush{100};
    RunMetrics metrics{};
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

  [[nodiscard]] FactOrder const& order() const { return order_; }
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

  // When it returns, the facts and rows are durable and the facts are shown. `fenced`: another writer has the
  // run. On a wrong order it fails with `internal`, and nothing more can be written: the next writer goes on.
  boost::asio::awaitable<Result<void>> commit(std::vector<Fact> facts, CommitRows rows);

  // `commit` whose last fact is the terminal.
  boost::asio::awaitable<Result<store::Ended>> end(std::vector<Fact> facts, CommitRows rows, RunEnd end);

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

  Result<Record> number(Fact fact);
  Result<void> enqueue(std::vector<Fact> facts, CommitRows rows);
  store::AppendRequest take();
  boost::asio::awaitable<Result<void>> flush_to(std::uint64_t n);
  boost::asio::awaitable<void> flush_deltas();
  boost::asio::awaitable<Result<void>> append_until_written(store::AppendRequest request);
  boost::asio::awaitable<Result<store::Ended>> end_until_written(store::EndRequest request);
  boost::asio::awaitable<bool> wait_for_store(Error error, std::chrono::milliseconds pause);
  void written(std::uint64_t last_n);
  void count_written(std::uint64_t last_n);
  void failed(Error error);
  void arm_flush();

  store::Store& store_;
  base::Clock const& clock_;
  base::TaskGroup& tasks_;
  std::shared_ptr<stream::Channel> const channel_;
  std::shared_ptr<base::Cancel> const cancel_;
  RunKey const run_;
  Epoch const epoch_;
  Options const options_;

  FactOrder order_;
  std::uint64_t last_n_;
  std::uint64_t durable_n_;
  std::int64_t next_idx_;
  Batch pending_;
  std::vector<Record> in_flight_;  // Not yet shown, being written.
  std::chrono::steady_clock::time_point in_flight_since_;
  std::int64_t in_flight_deltas_ = 0;
  bool writing_ = false;
  bool flush_armed_ = false;
  bool closed_ = false;
  std::optional<Error> failure_;
  std::optional<RunEnd> end_written_;
  base::Event changed_;
  boost::asio::steady_timer flush_timer_;
};

}  // namespace runnel::runtime
