#include "runnel/modules/calendar/conflicts.h"

#include <algorithm>
#include <utility>

#include "runnel/modules/calendar/recurrence/recurrence.h"

namespace runnel::modules::calendar {

using store::Async;

namespace {

std::vector<std::int64_t> compared_starts(Event const& event) {
  if (event.rrule.empty()) return {event.span.start_at};
  return next_occurrences(event, event.span.start_at, kMostComparedOccurrences).starts;
}

// A plain function, because g++ 12 mishandles braces inside coroutines (CONTRIBUTING.md).
Search search_for(Comparison const& comparison, std::vector<std::int64_t> const& starts) {
  auto const& event = comparison.event;
  auto const length = event.span.end_at - event.span.start_at;
  Window const window{{starts.front(), starts.back() + length}, Span{}};
  auto const limit = event.rrule.empty() ? kMostComparedWithOne : kMostComparedEvents;
  return {comparison.user,      window,           limit, {Pending::left_out, 0}, Beyond::first_ones,
          comparison.except_id, comparison.series};
}

// Whether the other event overlaps an occurrence that starts at one of the ascending starts.
bool overlaps(std::vector<std::int64_t> const& starts, std::int64_t length, Span other) {
  auto const first_to_reach = std::upper_bound(starts.begin(), starts.end(), other.start_at - length);
  return first_to_reach != starts.end() && *first_to_reach < other.end_at;
}

std::vector<Event> first_conflicts(std::vector<Event> others, Event const& event,
                                   std::vector<std::int64_t> const& starts, std::size_t most) {
  auto const length = event.span.end_at - event.span.start_at;
  std::vector<Event> out;
  for (auto& other : others) {
    if (out.size() == most) break;
    bool const told = std::any_of(out.begin(), out.end(), [&](Event const& e) { return e.id == other.id; });
    if (!told && overlaps(starts, length, other.span)) out.push_back(std::move(other));
  }
  return out;
}

}  // namespace

Async<std::vector<Event>> find_conflicts(Repository repository, Comparison comparison) {
  auto const& event = comparison.event;
  auto const starts = event.all_day ? std::vector<std::int64_t>{} : compared_starts(event);
  if (starts.empty()) co_return std::vector<Event>{};
  auto others = co_await events_in(repository, search_for(comparison, starts));
  if (!others) co_return others.error();
  co_return first_conflicts(std::move(*others), event, starts, comparison.most);
}

}  // namespace runnel::modules::calendar
