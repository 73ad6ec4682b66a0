#include "runnel/runtime/writing/run_writer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "runnel/base/backoff.h"
#include "runnel/base/log/log.h"

namespace runnel::runtime {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {
// Deltas are written as soon as they reach this size, so that a fast model makes several rows and not one
// huge row.
constexpr std::size_t kFlushedAtOnce = std::size_t{64} * 1024;

// The next of the points in time that are `period` apart. They are the same for all runs, so that the runs
// write to the store together and share a commit.
std::chrono::steady_clock::time_point next_tick(milliseconds period) {
  auto const now = std::chrono::steady_clock::now();
  return now + period - now.time_since_epoch() % period;
}
}  // namespace

RunWriter::RunWriter(store::Store& store, base::Clock const& clock, base::TaskGroup& tasks,
                     std::shared_ptr<stream::Channel> channel, std::shared_ptr<base::Cancel> cancel,
                     Start start, Options options)
    : store_{store},
      clock_{clock},
      tasks_{tasks},
      channel_{std::move(channel)},
      cancel_{std::move(cancel)},
      run_{start.run},
      options_{options},
      head_{std::move(start.tail), {}},
      durable_n_{head_.tail.last_n()},
      changed_{channel_->context().get_executor()},
      flush_timer_{channel_->context()} {}

void RunWriter::begin(std::vector<Record> begun) {
  channel_->begin_epoch(epoch(), durable_n_ - begun.size());
  for (auto& record : begun)
    record.position.epoch = epoch();
  channel_->publish(std::move(begun));
  channel_->set_durable(durable_n_);
}

Result<Record> RunWriter::number(Head& head, Fact fact) {
  if (failure_) return *failure_;
  bool const is_first = head.tail.empty();
  auto record = head.tail.add(std::move(fact), clock_.now_us());
  if (!record) return record;
  if (is_first) head.pending.first_at = std::chrono::steady_clock::now();
  if (is_delta(record->fact)) ++head.pending.deltas;
  return record;
}

Result<void> RunWriter::show(std::vector<Fact> deltas) {
  std::vector<Record> records;
  records.reserve(deltas.size());
  Result<void> outcome;
  for (auto& fact : deltas) {
    auto record = number(head_, std::move(fact));
    if (!record) {
      outcome = record.error();
      break;  // The facts before it are shown, because the log has them.
    }
    records.push_back(std::move(*record));
  }
  // Deltas wait behind a fact that waits for its commit, because nobody may see facts out of order.
  if (in_flight_.empty() && head_.pending.unshown.empty()) {
    channel_->publish(std::move(records));
  } else {
    std::move(records.begin(), records.end(), std::back_inserter(head_.pending.unshown));
  }
  arm_flush();
  hurry_flush();
  return outcome;
}

asio::awaitable<void> RunWriter::wait_for_room() {
  auto const self = shared_from_this();
  base::Cancel::Registration const stop{*cancel_, [this] { changed_.notify_all(); }};
  while (!has_room() && !failure_ && !cancel_->requested())
    co_await changed_.wait();
}

Result<void> RunWriter::enqueue(Head& head, Commit commit) {
  if (failure_) return *failure_;
  if (commit.facts.empty() && !commit.rows.empty())
    failure_ = Error{Errc::internal, "the commit has rows but no facts"};
  for (auto& fact : commit.facts) {
    auto record = number(head, std::move(fact));
    if (!record) {
      failure_ = record.error();  // Half a commit must not become durable: nothing more is written.
      break;
    }
    head.pending.unshown.push_back(std::move(*record));
  }
  if (failure_) {
    changed_.notify_all();
    return *failure_;
  }
  head.pending.rows.add(std::move(commit.rows));
  return {};
}

asio::awaitable<Result<void>> RunWriter::commit(Commit commit) {
  auto const queued = enqueue(head_, std::move(commit));
  if (!queued) co_return queued.error();
  co_return co_await flush_to(head_.tail.last_n());
}

asio::awaitable<Result<store::Ended>> RunWriter::end(Commit last, RunEnd end,
                                                     std::optional<Commit> if_canceled) {
  auto const self = shared_from_this();
  // The terminal is queued only when it can be taken at once, because a background write must not write it
  // with a plain append.
  while (writing_ && !failure_)
    co_await changed_.wait();
  std::optional<Head> other;
  if (if_canceled) {
    other = head_;
    auto const queued = enqueue(*other, std::move(*if_canceled));
    if (!queued) co_return queued.error();
  }
  auto const queued = enqueue(head_, std::move(last));
  if (!queued) co_return queued.error();

  auto request = take_end(end, other);
  auto ended = co_await end_until_written(std::move(request));
  if (!ended) {
    failed(ended.error());
    co_return ended;
  }
  end_written_ = std::move(end);
  if (ended->canceled) ended_instead(std::move(*other));
  written(head_.tail.last_n());
  co_return ended;
}

// Shows the ending that the store chose. Nobody has seen the numbers that the other ending used.
void RunWriter::ended_instead(Head other) {
  in_flight_ = std::move(other.pending.unshown);
  other.pending = {};
  head_ = std::move(other);
  end_written_ = canceled_end();
}

store::AppendRequest RunWriter::make_append(Head& head) const {
  auto& pending = head.pending;
  store::AppendRequest request;
  request.run = run_;
  request.epoch = epoch();
  request.facts = head.tail.take();
  request.messages = std::move(pending.rows.messages);
  request.call_ends = std::move(pending.rows.call_ends);
  request.bookings = std::move(pending.rows.bookings);
  request.checkpoints = std::move(pending.rows.checkpoints);
  request.tool_starts = std::move(pending.rows.tool_starts);
  request.tool_ends = std::move(pending.rows.tool_ends);
  return request;
}

store::AppendRequest RunWriter::take() {
  writing_ = true;
  flush_hurried_ = false;
  flush_timer_.cancel();
  auto request = make_append(head_);
  request.now = clock_.now_ms();
  in_flight_bytes_ = request.facts.body.size();
  in_flight_ = std::move(head_.pending.unshown);
  in_flight_since_ = head_.pending.first_at;
  in_flight_deltas_ = head_.pending.deltas;
  head_.pending = {};
  return request;
}

store::EndRequest RunWriter::take_end(RunEnd const& end, std::optional<Head>& other) {
  store::EndRequest request;
  request.append = take();
  request.status = end.status;
  request.error_code = end.error_code;
  request.error_id = end.error_id;
  if (other) {
    auto& canceled = request.if_canceled.emplace();
    canceled.append = make_append(*other);
    canceled.append.now = request.append.now;
    canceled.error_code = canceled_end().error_code;
  }
  return request;
}

asio::awaitable<Result<void>> RunWriter::flush_to(std::uint64_t n) {
  auto const self = shared_from_this();
  while (durable_n_ < n) {
    if (failure_) co_return *failure_;
    if (writing_) {
      co_await changed_.wait();
      continue;
    }
    auto request = take();
    auto const last_n = request.facts.last_n;
    auto const result = co_await append_until_written(std::move(request));
    if (result) {
      written(last_n);
    } else {
      failed(result.error());
    }
  }
  co_return Result<void>{};
}

void RunWriter::written(std::uint64_t last_n) {
  writing_ = false;
  in_flight_bytes_ = 0;
  count_written(last_n);
  durable_n_ = last_n;
  if (std::exchange(refused_, false)) channel_->go_on();
  channel_->publish(std::exchange(in_flight_, {}));
  channel_->set_durable(durable_n_);
  // Deltas that were queued behind those facts are shown too, up to the next fact, which waits for its own
  // commit.
  auto const waits = std::find_if(head_.pending.unshown.begin(), head_.pending.unshown.end(),
                                  [](Record const& record) { return !is_delta(record.fact); });
  std::vector<Record> deltas{std::make_move_iterator(head_.pending.unshown.begin()),
                             std::make_move_iterator(waits)};
  head_.pending.unshown.erase(head_.pending.unshown.begin(), waits);
  channel_->publish(std::move(deltas));
  hurry_flush();
  changed_.notify_all();
}

void RunWriter::count_written(std::uint64_t last_n) {
  auto const& metrics = options_.metrics;
  metrics.fact_commit_time.observe(std::chrono::steady_clock::now() - in_flight_since_);
  metrics.deltas.add(in_flight_deltas_);
  metrics.facts.add(static_cast<std::int64_t>(last_n - durable_n_) - in_flight_deltas_);
}

void RunWriter::failed(Error error) {
  writing_ = false;
  failure_ = std::move(error);
  changed_.notify_all();
}

// Repeats `write` until the store has answered. The store recognizes a repeated write by its facts.
template <class T>
asio::awaitable<Result<T>> RunWriter::until_written(std::function<store::Async<T>()> write) {
  for (base::Backoff backoff;;) {
    auto result = co_await write();
    if (result || result.error().code != Errc::unavailable) co_return result;
    bool const again = co_await wait_for_store(result.error(), backoff.next());
    if (!again) co_return result;
  }
}

asio::awaitable<Result<void>> RunWriter::append_until_written(store::AppendRequest request) {
  auto const result = co_await until_written<void>([this, &request] { return store_.append(request); });
  co_return result;
}

asio::awaitable<Result<store::Ended>> RunWriter::end_until_written(store::EndRequest request) {
  auto const result = co_await until_written<store::Ended>([this, &request] { return store_.end(request); });
  co_return result;
}

asio::awaitable<bool> RunWriter::wait_for_store(Error error, milliseconds pause) {
  if (!refused_) {
    refused_ = true;
    base::log(base::LogLevel::error, "run waits for the store",
              {{"run_id", names().run.text}, {"thread_id", names().thread.text}, {"detail", error.detail}});
    channel_->hold();
  }
  if (cancel_->reason() == base::CancelReason::shutdown) co_return false;
  asio::steady_timer timer{channel_->context(), pause};
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return cancel_->reason() != base::CancelReason::shutdown;
}

milliseconds RunWriter::flush_period() const {
  return channel_->has_durable_readers() ? options_.durable_flush : options_.delta_flush;
}

void RunWriter::arm_flush() {
  if (flush_armed_ || failure_) return;
  flush_armed_ = true;
  flush_timer_.expires_at(flush_hurried_ ? std::chrono::steady_clock::now() : next_tick(flush_period()));
  flush_timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    self->flush_armed_ = false;
    if (self->closed_) return;
    if (!error) {
      self->tasks_.spawn(self->channel_->context().get_executor(), "delta flush", self->flush_deltas());
    } else if (!self->head_.tail.empty()) {
      self->arm_flush();  // A commit took the deltas that the timer was for; these came later.
    }
  });
}

// The canceled timer is armed again (arm_flush), and is then due at once.
void RunWriter::hurry_flush() {
  if (flush_hurried_ || writing_ || head_.tail.size() < kFlushedAtOnce) return;
  flush_hurried_ = true;
  flush_timer_.cancel();
}

asio::awaitable<void> RunWriter::close() {
  auto const self = shared_from_this();
  if (!head_.tail.empty()) co_await flush_to(head_.tail.last_n());
  while (writing_)
    co_await changed_.wait();
  closed_ = true;
  flush_timer_.cancel();
}

asio::awaitable<void> RunWriter::flush_deltas() {
  auto const self = shared_from_this();
  if (!head_.tail.empty()) co_await flush_to(head_.tail.last_n());
}

}  // namespace runnel::runtime
