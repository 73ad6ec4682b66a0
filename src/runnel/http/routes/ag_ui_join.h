#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <set>

#include "runnel/base/clock.h"
#include "runnel/core/fact/fact_order.h"
#include "runnel/http/routes/run_feed.h"

// How an AG-UI client joins a run in the middle (AGUI-5).
namespace runnel::http {

// What a run's log says up to a place from which a reader can go on: before its end, or before the pause in
// which it is.
class JoinState {
 public:
  // Takes the log's facts in their order. False when the rest need not be read. Fails if a fact is out of
  // order.
  Result<bool> take(Record const& record);

  // The place, and what is open there.
  [[nodiscard]] Position position() const { return current().position; }
  [[nodiscard]] FactOrder const& order() const { return current().order; }
  // The messages of the run that are complete there.
  [[nodiscard]] bool has(MessageId const& message) const { return current().complete.contains(message); }
  // The newest cards of the run.
  [[nodiscard]] std::deque<CardShown> const& cards() const { return current().cards; }

 private:
  struct Place {
    Position position;
    FactOrder order;
    std::set<MessageId> complete;
    std::deque<CardShown> cards;
    std::size_t card_bytes = 0;

    void keep(CardShown const& card);
  };
  [[nodiscard]] Place const& current() const { return before_pause_ ? *before_pause_ : place_; }

  Place place_;
  std::unique_ptr<Place> before_pause_;  // Set while the run is paused.
};

// The stream of the run for a client that has none of it: RUN_STARTED, the thread's messages, the state, and
// what is open, begun anew with what it has so far; then the run's events from there on. A run that has not
// begun is waited for. Fails with `not_found` if the log cannot be read.
store::Async<std::unique_ptr<EventFeed>> join_run(FeedParts parts, UserId reader, store::RunRow run,
                                                  Wire wire, base::Clock const* clock);

}  // namespace runnel::http
