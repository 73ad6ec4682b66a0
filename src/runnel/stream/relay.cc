#include "runnel/stream/relay.h"

#include <algorithm>
#include <utility>

namespace runnel::stream {

namespace {

// The writes to this many readers take about 50 µs.
constexpr std::size_t kNarrow = 16;
constexpr int kPauses = 5;
constexpr std::chrono::milliseconds kLongestPause{20};

}  // namespace

void Relay::add(ReaderId id, std::shared_ptr<Subscriber> subscriber, SharedFrames const& first) {
  release();  // `first` contains the held frames too.
  if (!first->bytes.empty()) subscriber->on_frames(first);
  readers_.emplace_back(id, std::move(subscriber));
}

void Relay::remove(ReaderId id) {
  std::erase_if(readers_, [id](auto const& entry) { return entry.first == id; });
}

void Relay::send(SharedFrames frames) {
  if (waiting_ || (readers_.size() > kNarrow && Clock::now() < next_at_)) return hold(frames);
  fan_out(frames);
}

void Relay::close(CloseReason reason) {
  release();
  auto const readers = std::exchange(readers_, {});
  for (auto const& [id, subscriber] : readers)
    subscriber->on_close(reason);
}

void Relay::close_one(ReaderId id, CloseReason reason) {
  release();
  auto const it =
      std::find_if(readers_.begin(), readers_.end(), [id](auto const& reader) { return reader.first == id; });
  if (it == readers_.end()) return;
  auto const subscriber = it->second;
  readers_.erase(it);
  subscriber->on_close(reason);
}

void Relay::hold(SharedFrames const& frames) {
  held_.append(*frames);
  if (waiting_) return;
  waiting_ = true;
  timer_.expires_at(next_at_);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code const& /*ec*/) {
    self->waiting_ = false;
    self->release();
  });
}

// If a wait is under way, it finds nothing to send when it ends.
void Relay::release() {
  if (!held_.bytes.empty()) fan_out(share(std::exchange(held_, {})));
}

void Relay::fan_out(SharedFrames const& frames) {
  if (readers_.size() <= kNarrow) {
    for (auto const& [id, subscriber] : readers_)
      subscriber->on_frames(frames);
    return;
  }
  auto const began = Clock::now();
  for (auto const& [id, subscriber] : readers_)
    subscriber->on_frames(frames);
  auto const ended = Clock::now();
  next_at_ = ended + std::min<Clock::duration>(kPauses * (ended - began), kLongestPause);
}

}  // namespace runnel::stream
