#include "runnel/http/routes/tasks/task_events.h"

#include <string_view>
#include <utility>

#include "runnel/protocol/poll_envelope.h"

namespace runnel::http {

namespace {

std::int64_t count_of(stream::Frames const& frames) {
  return static_cast<std::int64_t>(frames.count());
}

}  // namespace

void TaskEvents::add(stream::SharedFrames frames) {
  if (frames == nullptr || frames->count() == 0) return;
  bytes_ += frames->bytes.size();
  auto const first = std::exchange(next_idx_, next_idx_ + count_of(*frames));
  pieces_.push_back({std::move(frames), first});
  forget_old();
}

// The newest piece is kept, however large it is.
void TaskEvents::forget_old() {
  auto const is_old = [this](Piece const& piece) {
    return piece.first_idx + count_of(*piece.frames) <= oldest_kept(next_idx_);
  };
  while (pieces_.size() > 1 && (bytes_ > kKeptEventBytes || is_old(pieces_.front()))) {
    bytes_ -= pieces_.front().frames->bytes.size();
    pieces_.pop_front();
  }
}

std::int64_t TaskEvents::first_idx() const {
  return pieces_.empty() ? next_idx_ : std::max(pieces_.front().first_idx, oldest_kept(next_idx_));
}

std::size_t TaskEvents::bytes_from(std::int64_t from) const {
  std::size_t bytes = 0;
  for (auto const& [frames, first] : pieces_) {
    if (first + count_of(*frames) > from) bytes += frames->bytes.size();
  }
  return bytes;
}

std::string TaskEvents::elements(std::int64_t from) const {
  from = std::max(from, first_idx());
  std::string out;
  out.reserve(bytes_from(from));
  for (auto const& [frames, first] : pieces_) {
    if (first + count_of(*frames) <= from) continue;
    auto const skipped = static_cast<std::size_t>(std::max<std::int64_t>(from - first, 0));
    auto const begin = skipped == 0 ? 0 : frames->ends[skipped - 1];
    out += std::string_view{frames->bytes}.substr(begin);
  }
  if (!out.empty()) out.resize(out.size() - protocol::kPollSeparator.size());
  return out;
}

}  // namespace runnel::http
