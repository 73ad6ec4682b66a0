#include "runnel/modules/calendar/event_json.h"

#include "runnel/core/time/instant.h"

namespace runnel::modules::calendar {

namespace {

constexpr std::size_t kDateLength = 10;

// The date of an instant in UTC.
std::string utc_date(std::int64_t ms) {
  return to_rfc3339(ms).substr(0, kDateLength);
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

void append_event_fields(JsonObject& object, Event const& event) {
  object.text("event_id", event.id);
  append_event_name(object, event, {});
  object.text("timezone", event.timezone);
  if (!event.location.empty()) object.text("location", event.location);
  if (!event.description.empty()) object.text("description", event.description);
  if (event.invite_id.empty()) {
    if (!event.reminders.empty()) object.raw("reminders", event.reminders);
    return;
  }
  object.text("organizer", event.owner_id)
      .text("invite_id", event.invite_id)
      .text("invite_status", event.invite_status);
}

void append_guests(std::string& out, std::vector<Guest> const& guests) {
  append_json_array(out, guests, append_guest);
}

}  // namespace runnel::modules::calendar
