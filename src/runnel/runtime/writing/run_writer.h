#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/base/clock.h"
#include "runnel/base/event.h"
#include "runnel/base/task_group.h"
#include "runnel/core/fact/fact.h"
#include "runnel/core/fact/fact_order.h"
#include "runnel/runtime/lifecycle/run_metrics.h"
#include "runnel/runtime/writing/commit.h"
#include "runnel/runtime/writing/log_tail.h"
#include "runnel/store/store.h"
#include "runnel/stream/channel.h"

namespace runnel::runtime {

// How a run ended, besides its terminal fact.
struct RunEnd {
  store::RunStatus status = store::RunStatus::completed;
  std::string error_code;
  std::string error_id;

  explicit RunEnd(store::RunStatus s, std::string code = {}, std::string id = {})
      : status{s}, error_code{std::move(code)}, error_id{std::move(id)} {}
};

// The end of a canceled run (RUN-4).
inline RunEnd canceled_end() {
  return RunEnd{store::RunStatus::canceled, "RUN_CANCELED"};
}

// The only way for a run's facts to reach a client: numbers them (LogTail), makes them durable and shows
// them. Nobody sees a fact before its commit. Deltas are the exception: they are shown at once and written in
// batches, at the latest with the next fact that is no delta. The durable log is always a prefix of the run's
// facts (SSE-7).
//
// If the store cannot be written, the writer disconnects the readers once (those that reconnect get what is
// durable, and wait), tries again until it succeeds, and only then continues (DB-3). A shutdown ends the
// retries with `unavailable`. The amount of unwritten facts is bounded if the caller of `show` waits for
// room. Used on its channel's core.
class RunWriter : public std::enable_shared_from_this<RunWriter> {
 public:
  struct Options {
    std::chrono::milliseconds delta_flush{100};
    std::chrono::milliseconds durable_flush{
        20};  // While somebody sees deltas only when they are durable (TASK-3).
    RunMetrics metrics{};
    // Bytes of the log. Everything that waits is written as one row, and each reader of a replay holds a
    // whole row.
    std::size_t max_unwritten = std::size_t{256} * 1024;
  };
  struct Start {
    RunKey run;
    LogTail tail;  // The tail of the log so far, under this writer's epoch.

    Start(RunKey r, LogTail t) : run{r}, tail{std::move(t)} {}
  };

  RunWriter(store::Store& store, base::Clock const& clock, base::TaskGroup& tasks,
            std::shared_ptr<stream::Channel> channel, std::shared_ptr<base::Cancel> cancel, Start start,
            Options options);

  [[nodiscard]] FactOrder const& order() const { return head_.tail.order(); }
  [[nodiscard]] Epoch epoch() const { return head_.tail.epoch(); }
  [[nodiscard]] std::shared_ptr<base::Cancel> const& cancel() const { return cancel_; }
  [[nodiscard]] RunNames const& names() const { return channel_->names(); }
  [[nodiscard]] boost::asio::io_context& context() const { return channel_->context(); }

  // Called once, before the functions below. Readers continue with this writer's epoch and see `begun`: the
  // first facts of the run, if its claim has written them.
  void begin(std::vector<Record> begun = {});

  // How the run ended; empty if this writer has not ended it.
  [[nodiscard]] std::optional<RunEnd> const& end_written() const { return end_written_; }

  // True if nothing more can be written: then the next writer continues the run.
  [[nodiscard]] bool has_failed() const { return failure_.has_value(); }

  // Shows deltas. Fails with `internal` if their order is wrong, and with the error of an earlier write if
  // one has failed.
  Result<void> show(std::vector<Fact> deltas);

  // False if the limit of unwritten bytes is reached or the store refuses writes. Then the caller of `show`
  // waits, and reads no more from the model.
  [[nodiscard]] bool has_room() const {
    return !refused_ && head_.tail.size() + in_flight_bytes_ < options_.max_unwritten;
  }

  // Returns when there is room, when writing has failed for good, or when the run is asked to stop.
  boost::asio::awaitable<void> wait_for_room();

  // When it succeeds, the facts and rows are durable and the facts are shown. Fails with `fenced` if another
  // writer has the run, and with `internal` if the order of the facts is wrong or there are rows without
  // facts. After a failure nothing more can be written: the next writer continues the run.
  boost::asio::awaitable<Result<void>> commit(Commit commit);

  // Commits `last`, whose last fact is the terminal. If a cancel was accepted before the store writes it,
  // `if_canceled` is written and shown instead, with `canceled_end` (RUN-4).
  boost::asio::awaitable<Result<store::Ended>> end(Commit last, RunEnd end,
                                                   std::optional<Commit> if_canceled = std::nullopt);

  // Writes the deltas that are still pending, if the store accepts them, and stops all background work.
  // Nothing may be written afterwards.
  boost::asio::awaitable<void> close();

 private:
  // What accompanies the facts that are numbered but not yet durable.
  struct Pending {
    std::chrono::steady_clock::time_point first_at;  // When the first of these facts came.
    std::int64_t deltas = 0;
    std::vector<Record> unshown;
    CommitRows rows;
  };

  // The end of the log, including facts that are numbered but not yet durable. A copy lets the writer prepare
  // two alternative endings of a run.
  struct Head {
    LogTail tail;
    Pending pending;
  };

  Result<Record> number(Head& head, Fact fact);
  Result<void> enqueue(Head& head, Commit commit);
  [[nodiscard]] store::AppendRequest make_append(Head& head) const;
  store::AppendRequest take();
  store::EndRequest take_end(RunEnd const& end, std::optional<Head>& other);
  void ended_instead(Head other);
  boost::asio::awaitable<Result<void>> flush_to(std::uint64_t n);
  boost::asio::awaitable<void> flush_deltas();
  template <class T>
  boost::asio::awaitable<Result<T>> until_written(std::function<store::Async<T>()> write);
  boost::asio::awaitable<Result<void>> append_until_written(store::AppendRequest request);
  boost::asio::awaitable<Result<store::Ended>> end_until_written(store::EndRequest request);
  boost::asio::awaitable<bool> wait_for_store(Error error, std::chrono::milliseconds pause);
  void written(std::uint64_t last_n);
  void count_written(std::uint64_t last_n);
  void failed(Error error);
  [[nodiscard]] std::chrono::milliseconds flush_period() const;
  void arm_flush();
  void hurry_flush();

  store::Store& store_;
  base::Clock const& clock_;
  base::TaskGroup& tasks_;
  std::shared_ptr<stream::Channel> const channel_;
  std::shared_ptr<base::Cancel> const cancel_;
  RunKey const run_;
  Options const options_;

  Head head_;
  std::uint64_t durable_n_;
  std::vector<Record> in_flight_;  // Being written and not yet shown.
  std::chrono::steady_clock::time_point in_flight_since_;
  std::int64_t in_flight_deltas_ = 0;
  std::size_t in_flight_bytes_ = 0;
  bool writing_ = false;
  bool refused_ = false;  // The store refused the last try.
  bool flush_armed_ = false;
  bool flush_hurried_ = false;
  bool closed_ = false;
  std::optional<Error> failure_;
  std::optional<RunEnd> end_written_;
  base::Event changed_;
  boost::asio::steady_timer flush_timer_;
};

}  // namespace runnel::runtime
