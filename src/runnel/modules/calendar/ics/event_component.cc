#include "runnel/modules/calendar/ics/event_component.h"

#include <boost/json/value.hpp>
#include <libical/ical.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "runnel/core/json/parse.h"
#include "runnel/core/time/zone.h"
#include "runnel/modules/calendar/ics/values.h"

// The only file that makes libical's components. It escapes the texts and folds the lines.
namespace runnel::modules::calendar {

namespace {

using std::chrono::local_seconds;

constexpr char kUtcZone[] = "UTC";

struct FreeComponent {
  void operator()(icalcomponent* component) const { icalcomponent_free(component); }
};
using Component = std::unique_ptr<icalcomponent, FreeComponent>;

struct FreeText {
  void operator()(char* text) const { icalmemory_free_buffer(text); }
};

// The text without what must not stand in a property. A carriage return ends a line, alone or before a line
// feed.
std::string printable(std::string const& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const c = static_cast<unsigned char>(text[i]);
    bool const is_line_end = c == '\r' && (i + 1 == text.size() || text[i + 1] != '\n');
    if (is_line_end) out += '\n';
    if ((c >= ' ' && c != 0x7f) || c == '\n' || c == '\t') out += text[i];
  }
  return out;
}

// A property whose value is text already and needs no escaping. libical writes no time after the year 3000 by
// itself: it turns such a time into zeros.
icalproperty* written(char const* name, std::string const& value) {
  auto* const property = icalproperty_new_x(value.c_str());
  icalproperty_set_x_name(property, name);
  return property;
}

void add_written(icalcomponent* to, char const* name, std::string const& value) {
  icalcomponent_add_property(to, written(name, value));
}

std::int64_t seconds_of(std::int64_t ms) {
  return in_utc(ms).time_since_epoch().count();
}

// How a time of the event is written: as a date, in UTC, or as local time in its zone.
class TimeWriter {
 public:
  explicit TimeWriter(Event const& event) : event_{event} {
    if (needs_zone(event)) zone_ = Zone::find(event.timezone);
  }

  void add(icalcomponent* to, char const* name, std::int64_t ms) const {
    auto* const property = written(name, text_of_time(ms));
    if (event_.all_day) icalproperty_add_parameter(property, icalparameter_new_value(ICAL_VALUE_DATE));
    if (zone_) icalproperty_add_parameter(property, icalparameter_new_tzid(event_.timezone.c_str()));
    icalcomponent_add_property(to, property);
  }

  // Whether who reads the time finds this second again: the local time has no place for which of two hours it
  // is when the clocks are set back, and is read as in the first.
  [[nodiscard]] bool is_exact(std::int64_t ms) const {
    return !zone_ || zone_->instant_of(local_time(ms)) == seconds_of(ms) * 1000;
  }

 private:
  [[nodiscard]] local_seconds local_time(std::int64_t ms) const {
    return in_utc(ms) + std::chrono::seconds{zone_->offset_at(ms).seconds};
  }

  [[nodiscard]] std::string text_of_time(std::int64_t ms) const {
    if (event_.all_day) return date_text(in_utc(ms));
    if (!zone_) return date_time_text(in_utc(ms)) + "Z";
    return date_time_text(local_time(ms));
  }

  Event const& event_;
  std::optional<Zone> zone_;
};

std::string utc_text(std::int64_t ms) {
  return date_time_text(in_utc(ms)) + "Z";
}

void add_texts(icalcomponent* to, Event const& event) {
  icalcomponent_add_property(to, icalproperty_new_summary(printable(event.title).c_str()));
  if (!event.location.empty())
    icalcomponent_add_property(to, icalproperty_new_location(printable(event.location).c_str()));
  if (!event.description.empty())
    icalcomponent_add_property(to, icalproperty_new_description(printable(event.description).c_str()));
}

// A length is the same in every reading of the start. Only this calendar reads X-RUNNEL-START.
void add_span(icalcomponent* to, Event const& event, TimeWriter const& times) {
  auto const start = event.span.start_at;
  auto const end = whole_seconds_end(event);
  times.add(to, "DTSTART", start);
  if (times.is_exact(start) && times.is_exact(end)) {
    times.add(to, "DTEND", end);
  } else {
    add_written(to, "DURATION", "PT" + std::to_string(seconds_of(end) - seconds_of(start)) + "S");
  }
  if (!times.is_exact(start)) add_written(to, "X-RUNNEL-START", utc_text(start));
  if (!needs_zone(event) && event.timezone != kUtcZone) add_written(to, "X-RUNNEL-TIMEZONE", event.timezone);
}

void add_rule(icalcomponent* to, Event const& event, TimeWriter const& times) {
  if (event.rrule.empty()) return;
  add_written(to, "RRULE", event.rrule);
  for (auto const exdate : event.exdates)
    times.add(to, "EXDATE", exdate);
}

void add_reminder(icalcomponent* to, Event const& event, std::int64_t minutes) {
  auto trigger = icaltriggertype_from_int(0);
  trigger.duration = icaldurationtype_from_int(static_cast<int>(-minutes * 60));
  auto* const alarm = icalcomponent_new(ICAL_VALARM_COMPONENT);
  icalcomponent_add_property(alarm, icalproperty_new_action(ICAL_ACTION_DISPLAY));
  icalcomponent_add_property(alarm, icalproperty_new_description(printable(event.title).c_str()));
  icalcomponent_add_property(alarm, icalproperty_new_trigger(trigger));
  icalcomponent_add_component(to, alarm);
}

void add_reminders(icalcomponent* to, Event const& event) {
  if (event.reminders.empty() || !event.invite_id.empty()) return;  // A guest does not see them.
  auto const minutes = parse_stored_json(event.reminders);
  if (!minutes) return;
  for (auto const& before : minutes->as_array())
    add_reminder(to, event, before.as_int64());
}

}  // namespace

std::int64_t whole_seconds_end(Event const& event) {
  constexpr std::int64_t kSecondMs = 1000;
  return std::min(event.span.end_at + kSecondMs - 1, kLastMs);
}

bool needs_zone(Event const& event) {
  return !event.rrule.empty() && !event.all_day && event.timezone != kUtcZone;
}

std::string event_component(ExportedEvent const& exported) {
  auto const& event = exported.event;
  Component const component{icalcomponent_new(ICAL_VEVENT_COMPONENT)};
  auto* const to = component.get();
  TimeWriter const times{event};
  icalcomponent_add_property(to, icalproperty_new_uid(printable(exported.uid).c_str()));
  add_written(to, "DTSTAMP", utc_text(event.updated_at));
  add_written(to, "CREATED", utc_text(event.created_at));
  add_written(to, "LAST-MODIFIED", utc_text(event.updated_at));
  icalcomponent_add_property(to, icalproperty_new_sequence(static_cast<int>(exported.sequence)));
  add_texts(to, event);
  add_span(to, event, times);
  add_rule(to, event, times);
  add_reminders(to, event);
  std::unique_ptr<char, FreeText> const text{icalcomponent_as_ical_string_r(to)};
  return text == nullptr ? "" : text.get();
}

}  // namespace runnel::modules::calendar
