#include "runnel/modules/calendar/repository.h"

#include <utility>

namespace runnel::modules::calendar {

using store::Async;
using store::SqlStatement;

namespace {

// A repeat updates the row with its own value, so that it touches one row like the first time.
constexpr char kAdd[] = R"sql(
INSERT INTO calendar_events(id, owner_id, title, start_at, end_at, timezone, location, description, created_at,
                            updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
ON CONFLICT (id) DO UPDATE SET id = excluded.id WHERE calendar_events.owner_id = excluded.owner_id)sql";

// $4 is the instant after which an event must start to reach into the span. It follows from the other
// conditions, and keeps the query away from older events.
constexpr char kOverlapping[] = R"sql(
SELECT id, title, start_at, end_at, timezone, location, description FROM calendar_events
WHERE owner_id = $1 AND start_at < $3 AND end_at > $2 AND start_at > $4
ORDER BY start_at, id LIMIT $5)sql";

constexpr char kFindEvent[] = R"sql(
SELECT id, title, start_at, end_at, timezone, location, description FROM calendar_events
WHERE owner_id = $1 AND id = $2)sql";

Event to_event(store::SqlResult const& found, std::size_t row) {
  Event event;
  event.id = found.text(row, 0);
  event.title = found.text(row, 1);
  event.span.start_at = found.integer(row, 2);
  event.span.end_at = found.integer(row, 3);
  event.timezone = found.text(row, 4);
  event.location = found.text(row, 5);
  event.description = found.text(row, 6);
  return event;
}

std::vector<Event> to_events(store::SqlResult const& found) {
  std::vector<Event> events;
  events.reserve(found.size());
  for (std::size_t row = 0; row < found.size(); ++row)
    events.push_back(to_event(found, row));
  return events;
}

}  // namespace

SqlStatement add_event(UserId const& owner, Event const& event, std::int64_t now_ms) {
  return store::statement(kAdd, event.id, owner.text, event.title, event.span.start_at, event.span.end_at,
                          event.timezone, store::null_if_empty(event.location),
                          store::null_if_empty(event.description), now_ms)
      .touching(1);
}

Async<std::vector<Event>> Repository::overlapping(UserId owner, Span span, std::size_t limit) {
  if (span.start_at >= span.end_at) co_return std::vector<Event>{};
  auto const found =
      co_await sql_->read(store::statement(kOverlapping, owner.text, span.start_at, span.end_at,
                                           span.start_at - kLongestSpanMs, static_cast<std::int64_t>(limit)));
  if (!found) co_return found.error();
  co_return to_events(*found);
}

Async<std::optional<Event>> Repository::find(UserId owner, std::string id) {
  auto const found = co_await sql_->read(store::statement(kFindEvent, owner.text, std::move(id)));
  if (!found) co_return found.error();
  if (found->empty()) co_return std::nullopt;
  co_return to_event(*found, 0);
}

}  // namespace runnel::modules::calendar
