#include "runnel/modules/calendar/event_rows.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace runnel::modules::calendar {

namespace {

// A list such as [1,2], as the repository writes it. Events may have many of these numbers, and this takes a
// tenth of the time of a parser of JSON.
std::vector<std::int64_t> to_instants(std::string_view list) {
  std::vector<std::int64_t> out;
  if (list.empty()) return out;
  out.reserve(static_cast<std::size_t>(std::count(list.begin(), list.end(), ',')) + 1);
  auto const* const end = list.data() + list.size();
  for (auto const* at = list.data(); at != end;) {
    std::int64_t instant = 0;
    auto const [after, wrong] = std::from_chars(at + 1, end, instant);
    if (wrong != std::errc{}) break;
    out.push_back(instant);
    at = after;
  }
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
  event.exdates = to_instants(found.text(row, 14));
  event.series_end_at = found.integer(row, 15);
  event.invite_id = found.text(row, 16);
  event.invite_status = found.text(row, 17);
  return event;
}

}  // namespace runnel::modules::calendar
