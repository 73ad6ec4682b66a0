#include "runnel/modules/calendar/input.h"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <optional>
#include <utility>

#include "runnel/core/text/locale_names.h"
#include "runnel/core/text/text.h"
#include "runnel/core/time/instant.h"
#include "runnel/core/time/zone.h"

namespace runnel::modules::calendar {

namespace json = boost::json;

namespace {

using std::chrono::local_days;

MethodFailure wrong(std::string const& field, std::string const& why) {
  return MethodFailure{kInvalidInput, field + " " + why};
}

Read<std::int64_t> read_instant_with_zone(json::object const& input, std::string const& field) {
  auto const text = text_of(input, field);
  auto const instant = parse_instant(text);
  if (!instant || parse_day(text)) {
    return wrong(field,
                 "must be an RFC 3339 instant with Z or an offset from UTC, such as "
                 "2026-05-01T09:00:00+02:00");
  }
  if (*instant < 0 || *instant > kLastMs)
    return wrong(field, "must be in the years 1970 to 9999, counted in UTC");
  return *instant;
}

// The fields `start_at` and `end_at`, which create and read have in common.
Read<Span> read_start_and_end(json::object const& input) {
  auto start = read_instant_with_zone(input, "start_at");
  if (auto* const failure = std::get_if<MethodFailure>(&start)) return std::move(*failure);
  auto end = read_instant_with_zone(input, "end_at");
  if (auto* const failure = std::get_if<MethodFailure>(&end)) return std::move(*failure);
  Span const span{std::get<std::int64_t>(start), std::get<std::int64_t>(end)};
  if (span.end_at <= span.start_at) return wrong("end_at", "must be after start_at");
  if (span.end_at - span.start_at > kLongestSpanMs)
    return wrong("end_at", "must be at most 366 days after start_at");
  return span;
}

std::int64_t first_instant(std::optional<Zone> const& zone, local_days day) {
  if (zone) return zone->day_begins(day);
  return std::chrono::milliseconds{day.time_since_epoch()}.count();
}

Read<Span> read_day(MethodCall const& call) {
  using namespace std::chrono_literals;
  auto const day = parse_day(text_of(call.input, "date"));
  if (!day) return wrong("date", "must be a date that exists, as YYYY-MM-DD, such as 2026-05-01");
  if (*day < local_days{1970y / 1 / 1}) return wrong("date", "must be in the years 1970 to 9999");
  auto const zone = Zone::find(call.preferences.timezone);
  return Span{first_instant(zone, *day), first_instant(zone, *day + std::chrono::days{1})};
}

}  // namespace

std::string text_of(json::object const& input, std::string_view field) {
  auto const* const value = input.if_contains(field);
  return value == nullptr ? std::string{} : std::string{value->as_string()};
}

Read<Event> read_new_event(MethodCall const& call) {
  Event event;
  event.title = text_of(call.input, "title");
  if (is_blank(event.title)) return wrong("title", "must not be blank");
  auto span = read_start_and_end(call.input);
  if (auto* const failure = std::get_if<MethodFailure>(&span)) return std::move(*failure);
  event.span = std::get<Span>(span);
  event.location = text_of(call.input, "location");
  event.description = text_of(call.input, "description");
  if (call.input.contains("timezone")) {
    event.timezone = text_of(call.input, "timezone");
    if (!is_zone_name(event.timezone))
      return wrong("timezone", "must be a time zone in the IANA database, such as Europe/Berlin");
  } else {
    event.timezone = is_zone_name(call.preferences.timezone) ? call.preferences.timezone : "UTC";
  }
  return event;
}

Read<Span> read_span(MethodCall const& call) {
  return text_of(call.input, "mode") == "day" ? read_day(call) : read_start_and_end(call.input);
}

}  // namespace runnel::modules::calendar
