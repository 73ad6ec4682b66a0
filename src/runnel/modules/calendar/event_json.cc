#include "runnel/modules/calendar/event_json.h"

#include <algorithm>

#include "runnel/core/time/instant.h"
#include "runnel/modules/calendar/recurrence/recurrence.h"

namespace runnel::modules::calendar {

namespace {

constexpr std::size_t kDateLength = 10;

// The date of an instant in UTC.
std::string utc_date(std::int64_t ms) {
  return to_rfc3339(ms).substr(0, kDateLength);
}

// What names an occurrence that starts then.
std::string start_text(Event const& event, std::int64_t start_at) {
  return event.all_day ? utc_date(start_at) : to_rfc3339(start_at);
}

void append_starts(std::string& out, Event const& event, std::vector<std::int64_t> const& starts) {
  append_json_array(out, starts, [&](std::string& item, std::int64_t start) {
    append_json_string(item, start_text(event, start));
  });
}

void append_guest(std::string& out, Guest const& guest) {
  JsonObject{out}
      .text("invite_id", guest.invite_id)
      .text("user_id", guest.user_id)
      .text("status", guest.status)
      .close();
}

}  // namespace

void append_event_name(JsonObject& object, Event const& event, boost::json::object const& input) {
  auto const text = [&](char const* name, std::string const& value) {
    if (!input.contains(name)) object.text(name, value);
  };
  text("title", event.title);
  if (event.all_day) {
    if (!input.contains("all_day")) object.boolean("all_day", true);
    text("start_date", utc_date(event.span.start_at));
    text("end_date", utc_date(event.span.end_at - kDayMs));
  } else {
    text("start_at", to_rfc3339(event.span.start_at));
    text("end_at", to_rfc3339(event.span.end_at));
  }
}

void append_rule(JsonObject& object, Event const& event, boost::json::object const& input) {
  bool const repeats = !event.rrule.empty() && !event.is_occurrence;
  if (repeats && !input.contains("rrule")) object.text("rrule", event.rrule);
}

void append_event_fields(JsonObject& object, Event const& event) {
  object.text("event_id", event.id);
  append_event_name(object, event, {});
  object.text("timezone", event.timezone);
  if (!event.location.empty()) object.text("location", event.location);
  if (!event.description.empty()) object.text("description", event.description);
  if (!event.rrule.empty()) object.text("rrule", event.rrule);
  if (event.is_occurrence) object.text("occurrence_start", start_text(event, event.span.start_at));
  if (event.invite_id.empty()) {
    if (!event.reminders.empty()) object.raw("reminders", event.reminders);
    return;
  }
  object.text("organizer", event.owner_id)
      .text("invite_id", event.invite_id)
      .text("invite_status", event.invite_status);
}

void append_series_details(JsonObject& object, Event const& event, std::int64_t now_ms) {
  if (event.rrule.empty()) return;
  if (!event.exdates.empty()) append_starts(object.key("exdates"), event, event.exdates);
  auto const from = std::max(event.span.start_at, now_ms);
  append_starts(object.key("next_occurrences"), event, next_occurrences(event, from, kMostNext).starts);
}

void append_guests(std::string& out, std::vector<Guest> const& guests) {
  append_json_array(out, guests, append_guest);
}

}  // namespace runnel::modules::calendar
