#include "runnel/modules/calendar/event_rows.h"

#include <boost/json/array.hpp>

#include <string>

#include "runnel/core/json/parse.h"

namespace runnel::modules::calendar {

namespace {

std::vector<std::int64_t> from_json(std::string const& text) {
  std::vector<std::int64_t> out;
  auto const list = text.empty() ? std::nullopt : parse_stored_json(text);
  if (!list) return out;
  for (auto const& instant : list->as_array())
    out.push_back(instant.as_int64());
  return out;
}

}  // namespace

Event to_event(store::SqlResult const& found, std::size_t row) {
  Event event;
  event.id = found.text(row, 0);
  event.title = found.text(row, 1);
  event.span = {found.integer(row, 2), found.integer(row, 3)};
  event.timezone = found.text(row, 4);
  event.location = found.text(row, 5);
  event.description = found.text(row, 6);
  event.all_day = found.integer(row, 7) == 1;
  event.reminders = found.text(row, 8);
  event.owner_id = found.text(row, 9);
  event.revision = found.integer(row, 10);
  event.created_at = found.integer(row, 11);
  event.updated_at = found.integer(row, 12);
  event.rrule = found.text(row, 13);
  event.exdates = from_json(found.text(row, 14));
  event.series_end_at = found.integer(row, 15);
  event.invite_id = found.text(row, 16);
  event.invite_status = found.text(row, 17);
  return event;
}

}  // namespace runnel::modules::calendar
