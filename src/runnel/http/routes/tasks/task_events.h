#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "runnel/stream/frames.h"

namespace runnel::http {

// How much of a task's events is kept for polls (TASK-4): the newest ones.
inline constexpr std::int64_t kKeptEvents = 1000;
inline constexpr std::size_t kKeptEventBytes = std::size_t{1024} * 1024;

// The idx of the oldest event that may be kept if `next_idx` is that of the next one.
inline std::int64_t oldest_kept(std::int64_t next_idx) {
  return std::max<std::int64_t>(next_idx - kKeptEvents, 0);
}

// The newest events of a task, encoded as the elements of an array, in one piece for each batch of facts.
// Their idx have no gaps, because each polled fact gives exactly one element.
class TaskEvents {
 public:
  explicit TaskEvents(std::int64_t first_idx) : began_at_{first_idx}, next_idx_{first_idx} {}

  void add(stream::SharedFrames frames);

  // The oldest event that is kept, and the one that comes next.
  [[nodiscard]] std::int64_t first_idx() const;
  [[nodiscard]] std::int64_t next_idx() const { return next_idx_; }

  [[nodiscard]] bool is_empty() const { return pieces_.empty(); }

  // Whether events were forgotten because of their size.
  [[nodiscard]] bool is_cut() const {
    return first_idx() > began_at_ && first_idx() > oldest_kept(next_idx_);
  }

  // How many bytes elements(from) has, at most.
  [[nodiscard]] std::size_t bytes_from(std::int64_t from) const;

  // The events from `from` on, or all that are kept if it is older than these, separated by commas.
  [[nodiscard]] std::string elements(std::int64_t from) const;

 private:
  struct Piece {
    stream::SharedFrames frames;
    std::int64_t first_idx;
  };

  void forget_old();

  std::deque<Piece> pieces_;
  std::int64_t const began_at_;
  std::int64_t next_idx_;
  std::size_t bytes_ = 0;
};

}  // namespace runnel::http
