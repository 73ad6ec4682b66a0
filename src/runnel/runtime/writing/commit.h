#pragma once

#include <iterator>
#include <utility>
#include <vector>

#include "runnel/core/fact/fact.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// The rows that are written with the facts of a commit.
struct CommitRows {
  std::vector<store::NewMessage> messages;
  std::vector<store::CallEnd> call_ends;
  std::vector<store::CallBooking> bookings;
  std::vector<store::Checkpoint> checkpoints;
  std::vector<store::ToolCallStart> tool_starts;
  std::vector<ToolCallId> tool_ends;

  [[nodiscard]] bool empty() const {
    return messages.empty() && call_ends.empty() && bookings.empty() && checkpoints.empty() &&
           tool_starts.empty() && tool_ends.empty();
  }

  void add(CommitRows more) {
    std::move(more.messages.begin(), more.messages.end(), std::back_inserter(messages));
    std::move(more.call_ends.begin(), more.call_ends.end(), std::back_inserter(call_ends));
    std::move(more.bookings.begin(), more.bookings.end(), std::back_inserter(bookings));
    std::move(more.checkpoints.begin(), more.checkpoints.end(), std::back_inserter(checkpoints));
    std::move(more.tool_starts.begin(), more.tool_starts.end(), std::back_inserter(tool_starts));
    std::move(more.tool_ends.begin(), more.tool_ends.end(), std::back_inserter(tool_ends));
  }
};

// Facts and the rows that are written with them, in one transaction.
struct Commit {
  std::vector<Fact> facts;
  CommitRows rows;

  void add(Commit more) {
    std::move(more.facts.begin(), more.facts.end(), std::back_inserter(facts));
    rows.add(std::move(more.rows));
  }
};

}  // namespace runnel::runtime
