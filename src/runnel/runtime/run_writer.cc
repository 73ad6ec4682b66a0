#include "runnel/runtime/run_writer.h"

#include <algorithm>
#include <utility>

#include "runnel/base/log.h"
#include "runnel/core/fact_json.h"

namespace runnel::runtime {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {
constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause{1000};

// The next of the moments that are `period` apart, the same for all runs: then what they have to write comes
// to the store together, and shares a commit.
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
      epoch_{start.epoch},
      options_{options},
      order_{std::move(start.order)},
      last_n_{start.last_n},
      durable_n_{start.last_n},
      next_idx_{start.next_idx},
      changed_{channel_->context().get_executor()},
      flush_timer_{channel_->context()} {}

Result<Record> RunWriter::number(Fact fact) {
  if (failure_) return *failure_;
  auto const accepted = order_.accept(fact);
  if (!accepted) return accepted.error();
  auto const idx = has_task_event(fact) ? next_idx_++ : -1;
  Record record{{epoch_, ++last_n_}, idx, clock_.now_us(), std::move(fact)};
  if (pending_.body.empty()) {
    pending_.first_n = last_n_;
    pending_.first_at = std::chrono::steady_clock::now();
  }
  if (is_delta(record.fact)) ++pending_.deltas;
  pending_.body += pending_.body.empty() ? '[' : ',';
  append_record_json(pending_.body, record);
  return record;
}

Result<void> RunWriter::show(std::vector<Fact> deltas) {
  std::vector<Record> records;
  records.reserve(deltas.size());
  Result<void> outcome;
  for (auto& fact : deltas) {
    auto record = number(std::move(fact));
    if (!record) {
      outcome = record.error();
      break;  // What was numbered before it is shown: the log has it.
    }
    records.push_back(std::move(*record));
  }
  // Behind a fact that waits for its commit, deltas wait too: nobody sees facts out of order.
  if (in_flight_.empty() && pending_.unshown.empty()) {
    channel_->publish(std::move(records));
  } else {
    std::move(records.begin(), records.end(), std::back_inserter(pending_.unshown));
  }
  arm_flush();
  return outcome;
}

Result<void> RunWriter::enqueue(std::vector<Fact> facts, CommitRows rows) {
  for (auto& fact : facts) {
    auto record = number(std::move(fact));
    if (!record) {
      failure_ = record.error();  // Half a commit must not become durable: nothing more is written.
      changed_.notify_all();
      return record.error();
    }
    pending_.unshown.push_back(std::move(*record));
  }
  pending_.rows.add(std::move(rows));
  return {};
}

asio::awaitable<Result<void>> RunWriter::commit(std::vector<Fact> facts, CommitRows rows) {
  auto const queued = enqueue(std::move(facts), std::move(rows));
  if (!queued) co_return queued.error();
  co_return co_await flush_to(last_n_);
}

asio::awaitable<Result<store::Ended>> RunWriter::end(std::vector<Fact> facts, CommitRows rows, RunEnd end) {
  auto const self = shared_from_this();
  // Queued only when it can be taken at once: a background write must not carry the terminal off in a plain
  // append.
  while (writing_ && !failure_)
    co_await changed_.wait();
  auto const queued = enqueue(std::move(facts), std::move(rows));
  if (!queued) co_return queued.error();

  store::EndRequest request;
  request.append = take();
  request.status = end.status;
  request.error_code = end.error_code;
  request.error_id = end.error_id;
  auto const last_n = request.append.facts.last_n;
  auto ended = co_await end_until_written(std::move(request));
  if (ended) {
    end_written_ = std::move(end);
    written(last_n);
  } else {
    failed(ended.error());
  }
  co_return ended;
}

store::AppendRequest RunWriter::take() {
  writing_ = true;
  flush_timer_.cancel();
  store::AppendRequest request;
  request.run = run_;
  request.epoch = epoch_;
  request.facts = {pending_.first_n, last_n_, next_idx_, std::move(pending_.body) + ']'};
  request.messages = std::move(pending_.rows.messages);
  request.call_ends = std::move(pending_.rows.call_ends);
  request.bookings = std::move(pending_.rows.bookings);
  request.checkpoints = std::move(pending_.rows.checkpoints);
  request.now = clock_.now_ms();
  in_flight_ = std::move(pending_.unshown);
  in_flight_since_ = pending_.first_at;
  in_flight_deltas_ = pending_.deltas;
  pending_ = {};
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
  count_written(last_n);
  durable_n_ = last_n;
  auto records = std::exchange(in_flight_, {});
  channel_->set_durable(durable_n_);
  channel_->publish(std::move(records));
  // Deltas that queued up behind those facts may be seen now; facts among them wait for their own commit.
  auto const waits = std::find_if(pending_.unshown.begin(), pending_.unshown.end(),
                                  [](Record const& record) { return !is_delta(record.fact); });
  std::vector<Record> deltas{std::make_move_iterator(pending_.unshown.begin()),
                             std::make_move_iterator(waits)};
  pending_.unshown.erase(pending_.unshown.begin(), waits);
  channel_->publish(std::move(deltas));
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

asio::awaitable<Result<void>> RunWriter::append_until_written(store::AppendRequest request) {
  for (auto pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    auto result = co_await store_.append(request);
    if (result || result.error().code != Errc::unavailable) co_return result;
    bool const again = co_await wait_for_store(result.error(), pause);
    if (!again) co_return result;
  }
}

asio::awaitable<Result<store::Ended>> RunWriter::end_until_written(store::EndRequest request) {
  for (auto pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    auto result = co_await store_.end(request);
    if (result || result.error().code != Errc::unavailable) co_return result;
    bool const again = co_await wait_for_store(result.error(), pause);
    if (!again) co_return result;
  }
}

asio::awaitable<bool> RunWriter::wait_for_store(Error error, milliseconds pause) {
  if (pause == kFirstPause) {
    base::log(base::LogLevel::error, "run waits for the store",
              {{"run_id", names().run.text}, {"thread_id", names().thread.text}, {"detail", error.detail}});
  }
  channel_->drop_readers();
  if (cancel_->reason() == base::CancelReason::shutdown) co_return false;
  asio::steady_timer timer{channel_->context(), pause};
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return cancel_->reason() != base::CancelReason::shutdown;
}

void RunWriter::arm_flush() {
  if (flush_armed_ || failure_) return;
  flush_armed_ = true;
  flush_timer_.expires_at(next_tick(options_.delta_flush));
  flush_timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    self->flush_armed_ = false;
    if (self->closed_) return;
    if (!error) {
      self->tasks_.spawn(self->channel_->context().get_executor(), "delta flush", self->flush_deltas());
    } else if (!self->pending_.body.empty()) {
      self->arm_flush();  // A commit took the timer's deltas; these came after it.
    }
  });
}

asio::awaitable<void> RunWriter::close() {
  auto const self = shared_from_this();
  if (!pending_.body.empty()) co_await flush_to(last_n_);
  while (writing_)
    co_await changed_.wait();
  closed_ = true;
  flush_timer_.cancel();
}

asio::awaitable<void> RunWriter::flush_deltas() {
  auto const self = shared_from_this();
  if (!pending_.body.empty()) co_await flush_to(last_n_);
}

}  // namespace runnel::runtime
