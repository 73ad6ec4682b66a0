#include "runnel/stream/channel.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace runnel::stream {

namespace asio = boost::asio;

// Runs `call` on that core: at once where this is its thread, else by a post; either way in order.
template <class Call>
void Channel::on_core(std::size_t core, Call call) {
  if (core == core_ && cores_.current() == core_) {
    call();
  } else {
    asio::post(cores_.at(core), std::move(call));
  }
}

Channel::Channel(base::Cores& cores, std::size_t core, RunNames names, Encode encode,
                 std::size_t keep_records, StreamMetrics metrics)
    : cores_{cores},
      core_{core},
      names_{std::move(names)},
      encode_{encode},
      keep_records_{keep_records},
      metrics_{metrics},
      slots_(cores.size()) {}

void Channel::begin_epoch(Epoch epoch, std::uint64_t after_n) {
  epoch_ = epoch;
  epoch_after_ = after_n;
  last_n_ = after_n;
  durable_n_ = after_n;
  ring_.clear();
  holding_ = false;
  for (auto& [id, reader] : readers_) {
    if (reader.waiting && reader.after.epoch < epoch) reader.after.n = std::min(reader.after.n, after_n);
  }
  serve_waiting();
}

void Channel::publish(std::vector<Record> records) {
  if (records.empty()) return;
  fan_out(records);
  last_n_ = records.back().position.n;
  ended_ = is_terminal(records.back().fact);
  std::move(records.begin(), records.end(), std::back_inserter(ring_));
  serve_waiting();
  if (ended_) close_all(CloseReason::ended);
  forget_old();
}

int Channel::append_frame(Dialect dialect, Record const& record, std::string& out) const {
  auto const before = out.size();
  encode_(dialect, names_, record, out);
  return out.size() > before ? 1 : 0;
}

void Channel::fan_out(std::vector<Record> const& records) {
  for (std::size_t d = 0; d < kDialects; ++d) {
    Bytes frames;
    std::int64_t count = 0;
    for (std::size_t core = 0; core < slots_.size(); ++core) {
      auto const& slot = slots_[core][d];
      if (slot.readers == 0) continue;
      if (!frames) {
        std::string out;
        for (auto const& record : records)
          count += append_frame(static_cast<Dialect>(d), record, out);
        if (out.empty()) break;
        frames = std::make_shared<std::string const>(std::move(out));
      }
      metrics_.live_frames.add(count * static_cast<std::int64_t>(slot.readers));
      on_core(core, [relay = slot.relay, frames] { relay->send(frames); });
    }
  }
}

void Channel::set_durable(std::uint64_t n) {
  durable_n_ = std::max(durable_n_, n);
  forget_old();
}

void Channel::forget_old() {
  while (ring_.size() > keep_records_ && ring_.front().position.n <= durable_n_)
    ring_.pop_front();
}

void Channel::hold() {
  holding_ = true;
  close_all(CloseReason::reconnect);
}

void Channel::go_on() {
  holding_ = false;
  serve_waiting();
}

void Channel::retire() {
  retired_ = true;
  close_all(CloseReason::reconnect);
}

void Channel::close_all(CloseReason reason) {
  for (std::size_t core = 0; core < slots_.size(); ++core) {
    for (auto& slot : slots_[core]) {
      if (slot.readers == 0) continue;
      slot.readers = 0;
      on_core(core, [relay = slot.relay, reason] { relay->close(reason); });
    }
  }
  // What still waits is ahead of the log: it has seen no terminal here.
  for (auto& [id, reader] : readers_) {
    if (!reader.waiting) continue;
    on_core(reader.core, [subscriber = reader.waiting] { subscriber->on_close(CloseReason::reconnect); });
  }
  readers_.clear();
  waiting_ = 0;
}

bool Channel::covers(std::uint64_t after_n) const {
  return after_n == last_n_ || (!ring_.empty() && ring_.front().position.n <= after_n + 1);
}

Bytes Channel::encode_after(Dialect dialect, std::uint64_t after_n) const {
  std::string out;
  std::int64_t count = 0;
  for (auto const& record : ring_) {
    if (record.position.n > after_n) count += append_frame(dialect, record, out);
  }
  metrics_.live_frames.add(count);
  return std::make_shared<std::string const>(std::move(out));
}

void Channel::go_live(ReaderId id, Reader& reader, std::shared_ptr<Subscriber> subscriber, Bytes first) {
  auto& place = slot(reader.core, reader.dialect);
  if (!place.relay) place.relay = std::make_shared<Relay>(cores_.at(reader.core));
  ++place.readers;
  reader.waiting = nullptr;
  on_core(reader.core, [relay = place.relay, id, subscriber = std::move(subscriber),
                        first = std::move(first)] { relay->add(id, subscriber, first); });
}

// Readers whose place the log has reached go live; one that fell into a gap resumes by way of the store.
void Channel::serve_waiting() {
  if (waiting_ == 0 || holding_) return;
  for (auto it = readers_.begin(); it != readers_.end();) {
    auto& [id, reader] = *it;
    if (!reader.waiting || reader.after.n > last_n_) {
      ++it;
      continue;
    }
    --waiting_;
    if (covers(reader.after.n)) {
      auto const subscriber = reader.waiting;
      go_live(id, reader, subscriber, encode_after(reader.dialect, reader.after.n));
      ++it;
    } else {
      on_core(reader.core, [subscriber = reader.waiting] { subscriber->on_close(CloseReason::reconnect); });
      it = readers_.erase(it);
    }
  }
}

asio::awaitable<ReaderId> Channel::attach(Attach request) {
  auto const self = shared_from_this();
  co_return co_await asio::co_spawn(context(), self->attach_here(std::move(request)), asio::use_awaitable);
}

asio::awaitable<ReaderId> Channel::attach_here(Attach request) {
  auto after = request.after;
  if (epoch_ != 0 && after.epoch < epoch_) after.n = std::min(after.n, epoch_after_);

  if (retired_ || (epoch_ == 0 && !request.wait_for_writer)) co_return 0;
  bool const waits = epoch_ == 0 || after.n > last_n_ || (holding_ && after.n >= durable_n_);
  if (!waits && (holding_ || !covers(after.n))) co_return 0;

  auto const id = ++last_reader_;
  auto& reader = readers_[id];
  reader = {request.dialect, request.core, nullptr, after};
  if (waits) {
    reader.waiting = std::move(request.subscriber);
    ++waiting_;
  } else {
    go_live(id, reader, std::move(request.subscriber), encode_after(request.dialect, after.n));
  }
  if (ended_) close_all(CloseReason::ended);
  co_return id;
}

void Channel::detach(ReaderId reader) {
  asio::post(context(), [self = shared_from_this(), reader] { self->detach_here(reader); });
}

void Channel::detach_here(ReaderId id) {
  auto const it = readers_.find(id);
  if (it == readers_.end()) return;
  auto const& reader = it->second;
  if (reader.waiting) {
    --waiting_;
  } else {
    auto& place = slot(reader.core, reader.dialect);
    --place.readers;
    on_core(reader.core, [relay = place.relay, id] { relay->remove(id); });
  }
  readers_.erase(it);
}

}  // namespace runnel::stream
