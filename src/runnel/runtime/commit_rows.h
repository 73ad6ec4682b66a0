#pragma once

#include <iterator>
#include <utility>
#include <vector>

#include "runnel/store/rows.h"

namespace runnel::runtime {

// The rows that facts tell of, for one commit with them.
struct CommitRows {
  std::vector<store::NewMessage> messages;
  std::vector<store::CallEnd> call_ends;
  std::vector<store::CallBooking> bookings;
  std::vector<store::Checkpoint> checkpoints;

  [[nodiscard]] bool empty() const {
    return messages.empty() && call_ends.empty() && bookings.empty() && checkpoints.empty();
  }

  void add(CommitRows more) {
    std::move(more.messages.begin(), more.messages.end(), std::back_inserter(messages));
    std::move(more.call_ends.begin(), more.call_ends.end(), std::back_inserter(call_ends));
    std::move(more.bookings.begin(), more.bookings.end(), std::back_inserter(bookings));
    std::move(more.checkpoints.begin(), more.checkpoints.end(), std::back_inserter(checkpoints));
  }
};

}  // namespace runnel::runtime
