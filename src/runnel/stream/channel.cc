#include "runnel/stream/channel.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace runnel::stream {

namespace asio = boost::asio;

// Runs `call` on that core: immediately if it is the channel's core and this is its thread, otherwise by a
// post. Either way, the calls for a core run in order.
template <class Call>
void Channel::on_core(std::size_t core, Call call) {
  if (core == core_ && cores_.current() == core_) {
    call();
  } else {
    asio::post(cores_.at(core), std::move(call));
  }
}

Channel::Channel(base::Cores& cores, std::size_t core, RunNames names, Encoding encoding,
                 std::size_t keep_records, StreamMetrics metrics)
    : cores_{cores},
      core_{core},
      names_{std::move(names)},
      encoding_{encoding},
      keep_records_{keep_records},
      metrics_{metrics},
      slots_(cores.size() * encoding.wires) {}

void Channel::begin_epoch(Epoch epoch, std::uint64_t after_n) {
  epoch_ = epoch;
  epoch_after_ = after_n;
  last_n_ = after_n;
  durable_n_ = after_n;
  ring_.clear();
  holding_ = false;
  paused_ = false;
  for (auto& [id, reader] : readers_) {
    if (reader.waiting && reader.after.epoch < epoch) reader.after.n = std::min(reader.after.n, after_n);
  }
  serve_waiting();
}

void Channel::publish(std::vector<Record> records) {
  if (records.empty()) return;
  auto const shown = last_n_;
  last_n_ = records.back().position.n;
  ended_ = is_terminal(records.back().fact);
  paused_ = std::holds_alternative<RunPaused>(records.back().fact);
  std::move(records.begin(), records.end(), std::back_inserter(ring_));
  fan_out(false, shown);
  serve_waiting();
  if (ended_) close_ended();
  if (paused_) close_paused();
  forget_old();
}

void Channel::set_durable(std::uint64_t n) {
  if (n <= durable_n_) return;
  auto const shown = std::exchange(durable_n_, n);
  note_shown_idx();
  fan_out(true, shown);
  serve_waiting();
  if (ended_) close_ended();
  forget_old();
}

void Channel::note_shown_idx() {
  for (auto record = ring_.rbegin(); record != ring_.rend(); ++record) {
    if (record->position.n > durable_n_ || record->idx < 0) continue;
    return shown_idx_.store(record->idx + 1, std::memory_order_release);
  }
}

bool Channel::has_durable_readers() const {
  for (std::size_t index = 0; index < slots_.size(); ++index) {
    if (slots_[index].readers > 0 && is_durable_only(static_cast<Wire>(index % encoding_.wires))) return true;
  }
  return false;
}

void Channel::fan_out(bool durable_only, std::uint64_t after_n) {
  for (std::size_t number = 0; number < encoding_.wires; ++number) {
    auto const wire = static_cast<Wire>(number);
    if (is_durable_only(wire) != durable_only) continue;
    SharedFrames frames;
    for (std::size_t core = 0; core < cores_.size(); ++core) {
      auto const& place = slot(core, wire);
      if (place.readers == 0) continue;
      if (!frames) frames = share(encode_after(wire, after_n));
      if (frames->bytes.empty()) break;
      metrics_.live_frames.add(static_cast<std::int64_t>(frames->count() * place.readers));
      on_core(core, [relay = place.relay, frames] { relay->send(frames); });
    }
  }
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

void Channel::close_slot(std::size_t index, CloseReason reason) {
  auto& place = slots_[index];
  if (place.readers == 0) return;
  place.readers = 0;
  on_core(index / encoding_.wires, [relay = place.relay, reason] { relay->close(reason); });
}

void Channel::close_all(CloseReason reason) {
  for (std::size_t index = 0; index < slots_.size(); ++index)
    close_slot(index, reason);
  // Readers that still wait have not seen the terminal fact here.
  for (auto& [id, reader] : readers_) {
    if (!reader.waiting) continue;
    on_core(reader.core, [subscriber = reader.waiting] { subscriber->on_close(CloseReason::reconnect); });
  }
  readers_.clear();
  waiting_ = 0;
}

void Channel::close_ended() {
  if (durable_n_ == last_n_ || encoding_.is_durable_only == nullptr) return close_all(CloseReason::ended);
  for (std::size_t index = 0; index < slots_.size(); ++index) {
    if (!is_over_for(static_cast<Wire>(index % encoding_.wires))) continue;
    close_slot(index, CloseReason::ended);
  }
  std::erase_if(readers_, [this](auto const& entry) {
    return !entry.second.waiting && is_over_for(entry.second.wire);
  });
}

void Channel::close_paused() {
  for (auto it = readers_.begin(); it != readers_.end();) {
    auto const& [id, reader] = *it;
    if (!reader.until_pause || reader.waiting || reader.after.n >= last_n_) {
      ++it;
      continue;
    }
    auto& place = slot(reader.core, reader.wire);
    --place.readers;
    on_core(reader.core,
            [relay = place.relay, closed = id] { relay->close_one(closed, CloseReason::ended); });
    it = readers_.erase(it);
  }
}

bool Channel::covers(Wire wire, std::uint64_t after_n) const {
  return after_n == end_for(wire) || (!ring_.empty() && ring_.front().position.n <= after_n + 1);
}

// The numbers in the ring have no gaps.
Frames Channel::encode_after(Wire wire, std::uint64_t after_n) const {
  Frames out;
  auto const end = end_for(wire);
  if (ring_.empty() || end <= after_n) return out;
  auto const front = ring_.front().position.n;
  for (auto i = static_cast<std::size_t>(after_n + 1 - front); i < ring_.size(); ++i) {
    if (ring_[i].position.n > end) break;
    out.add(encoding_, wire, names_, ring_[i]);
  }
  return out;
}

void Channel::go_live(ReaderId id, Reader& reader, std::shared_ptr<Subscriber> subscriber) {
  auto first = share(encode_after(reader.wire, reader.after.n));
  metrics_.live_frames.add(static_cast<std::int64_t>(first->count()));
  auto& place = slot(reader.core, reader.wire);
  if (!place.relay) place.relay = std::make_shared<Relay>(cores_.at(reader.core));
  ++place.readers;
  reader.waiting = nullptr;
  on_core(reader.core, [relay = place.relay, id, subscriber = std::move(subscriber),
                        first = std::move(first)] { relay->add(id, subscriber, first); });
}

// Readers whose position the log has reached go live. A reader for which facts are missing here must
// reconnect and read them from the store.
void Channel::serve_waiting() {
  if (waiting_ == 0 || holding_) return;
  for (auto it = readers_.begin(); it != readers_.end();) {
    auto& [id, reader] = *it;
    if (!reader.waiting || reader.after.n > end_for(reader.wire)) {
      ++it;
      continue;
    }
    --waiting_;
    if (covers(reader.wire, reader.after.n)) {
      auto const subscriber = reader.waiting;
      go_live(id, reader, subscriber);
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
  bool const waits = epoch_ == 0 || after.n > end_for(request.wire) || (holding_ && after.n >= durable_n_);
  if (!waits && (holding_ || !covers(request.wire, after.n))) co_return 0;

  auto const id = ++last_reader_;
  auto& reader = readers_[id];
  reader = {request.wire, request.core, nullptr, after, request.until_pause};
  if (waits) {
    reader.waiting = std::move(request.subscriber);
    ++waiting_;
  } else {
    go_live(id, reader, std::move(request.subscriber));
  }
  if (ended_) close_ended();
  if (paused_) close_paused();
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
    auto& place = slot(reader.core, reader.wire);
    --place.readers;
    on_core(reader.core, [relay = place.relay, id] { relay->remove(id); });
  }
  readers_.erase(it);
}

}  // namespace runnel::stream
