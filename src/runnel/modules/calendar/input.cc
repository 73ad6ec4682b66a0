#include "runnel/modules/calendar/input.h"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "runnel/core/text/locale_names.h"
#include "runnel/core/text/text.h"
#include "runnel/core/time/instant.h"
#include "runnel/core/time/zone.h"
#include "runnel/modules/calendar/recurrence/series_input.h"

namespace runnel::modules::calendar {

namespace json = boost::json;

namespace {

using std::chrono::local_days;

MethodFailure wrong(std::string const& field, std::string const& why) {
  return MethodFailure{kInvalidInput, field + " " + why};
}

// A day as if it were in UTC.
std::int64_t floating_ms(local_days day) {
  return std::chrono::milliseconds{day.time_since_epoch()}.count();
}

Read<std::int64_t> read_instant_with_zone(std::string const& text, std::string const& field) {
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

Read<local_days> read_date(std::string const& text, std::string const& field) {
  using namespace std::chrono_literals;
  auto const day = parse_day(text);
  if (!day) return wrong(field, "must be a date that exists, as YYYY-MM-DD, such as 2026-05-01");
  if (*day < local_days{1970y / 1 / 1}) return wrong(field, "must be in the years 1970 to 9999");
  return *day;
}

Read<Span> read_span(RangeText const& range) {
  auto start = read_instant_with_zone(range.start, range.start_name);
  if (auto* const failure = std::get_if<MethodFailure>(&start)) return std::move(*failure);
  auto end = read_instant_with_zone(range.end, range.end_name);
  if (auto* const failure = std::get_if<MethodFailure>(&end)) return std::move(*failure);
  Span const span{std::get<std::int64_t>(start), std::get<std::int64_t>(end)};
  if (span.end_at <= span.start_at)
    return wrong(range.end_name, std::string{"must be after "} + range.start_name);
  if (span.end_at - span.start_at > kLongestSpanMs)
    return wrong(range.end_name, std::string{"must be at most 366 days after "} + range.start_name);
  return span;
}

// From the first midnight of the first day to the last midnight of the last one.
Read<Span> read_dates(std::string const& first_text, std::string const& last_text) {
  auto first = read_date(first_text, "start_date");
  if (auto* const failure = std::get_if<MethodFailure>(&first)) return std::move(*failure);
  auto last = last_text.empty() ? first : read_date(last_text, "end_date");
  if (auto* const failure = std::get_if<MethodFailure>(&last)) return std::move(*failure);
  Span const span{floating_ms(std::get<local_days>(first)), floating_ms(std::get<local_days>(last)) + kDayMs};
  if (span.end_at <= span.start_at) return wrong("end_date", "must not be before start_date");
  if (span.end_at - span.start_at > kLongestSpanMs)
    return wrong("end_date", "must be at most 365 days after start_date");
  if (span.end_at > kLastMs) return wrong("end_date", "must be before 9999-12-31");
  return span;
}

// The texts and the reminders that an input has. What is wrong with them, or nothing.
std::optional<MethodFailure> set_details(Event& event, json::object const& input) {
  if (input.contains("title")) event.title = text_of(input, "title");
  if (is_blank(event.title)) return wrong("title", "must not be blank");
  if (input.contains("location")) event.location = text_of(input, "location");
  if (input.contains("description")) event.description = text_of(input, "description");
  if (auto const* const reminders = input.if_contains("reminders"))
    event.reminders = reminders->as_array().empty() ? "" : json::serialize(*reminders);
  if (!input.contains("timezone")) return std::nullopt;
  event.timezone = text_of(input, "timezone");
  if (is_zone_name(event.timezone)) return std::nullopt;
  return wrong("timezone", "must be a time zone in the IANA database, such as Europe/Berlin");
}

bool is_true(json::object const& input, std::string_view field) {
  auto const* const value = input.if_contains(field);
  return value != nullptr && value->get_bool();
}

bool has_instants(json::object const& input) {
  return input.contains("start_at") || input.contains("end_at");
}

bool has_dates(json::object const& input) {
  return input.contains("start_date") || input.contains("end_date");
}

bool has_changes(json::object const& input) {
  return std::any_of(input.begin(), input.end(), [](json::key_value_pair const& field) {
    return field.key() != "event_id" && field.key() != "mode" && field.key() != "occurrence_start";
  });
}

std::string date_text(std::int64_t floating) {
  return to_rfc3339(floating).substr(0, 10);
}

// The new dates of an event of whole days. One that was at a time of day needs a first day.
Read<Span> changed_dates(Event const& event, json::object const& input) {
  if (!input.contains("start_date") && !event.all_day)
    return wrong("start_date", "is required to make this an event of whole days");
  auto first = text_of(input, "start_date");
  if (!input.contains("start_date")) first = date_text(event.span.start_at);
  auto last = text_of(input, "end_date");
  if (!input.contains("end_date") && event.all_day) {
    auto const start = read_date(first, "start_date");
    if (auto const* const failure = std::get_if<MethodFailure>(&start)) return *failure;
    auto const length = event.span.end_at - event.span.start_at;
    if (floating_ms(std::get<local_days>(start)) + length > kLastMs)
      return wrong("start_date", "must be so early that the event ends before 9999-12-31");
    last = date_text(floating_ms(std::get<local_days>(start)) + length - kDayMs);
  }
  return read_dates(first, last);
}

// The new span of an event at a time of day. One of whole days needs both instants.
Read<Span> changed_instants(Event const& event, json::object const& input) {
  for (auto const* const field : {"start_at", "end_at"}) {
    if (event.all_day && !input.contains(field))
      return wrong(field, "is required to make this an event at a time of day");
  }
  RangeText range{text_of(input, "start_at"), text_of(input, "end_at")};
  if (!input.contains("start_at")) range.start = to_rfc3339(event.span.start_at);
  if (!input.contains("end_at")) {
    auto const start = read_instant_with_zone(range.start, "start_at");
    if (auto const* const failure = std::get_if<MethodFailure>(&start)) return *failure;
    auto const end = std::get<std::int64_t>(start) + event.span.end_at - event.span.start_at;
    if (end > kLastMs) return wrong("start_at", "must be so early that the event ends in the year 9999");
    range.end = to_rfc3339(end);
  }
  return read_span(range);
}

// The days of the zone that have a part in the span.
Span dates_of(Span span, std::optional<Zone> const& zone) {
  auto const day_of = [&](std::int64_t ms) {
    return zone ? floating_ms(zone->at(ms).day) : ms - ms % kDayMs;
  };
  return {day_of(span.start_at), day_of(span.end_at - 1) + kDayMs};
}

}  // namespace

std::string text_of(json::object const& input, std::string_view field) {
  auto const* const value = input.if_contains(field);
  return value == nullptr ? std::string{} : std::string{value->as_string()};
}

namespace {

// The new event, without what the input says about repeating.
Read<Event> new_single(json::object const& input, std::string const& users_zone) {
  Event event;
  event.timezone = is_zone_name(users_zone) ? users_zone : "UTC";
  if (auto failure = set_details(event, input)) return std::move(*failure);
  event.all_day = is_true(input, "all_day");
  auto span = event.all_day ? read_dates(text_of(input, "start_date"), text_of(input, "end_date"))
                            : read_span({text_of(input, "start_at"), text_of(input, "end_at")});
  if (auto* const failure = std::get_if<MethodFailure>(&span)) return std::move(*failure);
  event.span = std::get<Span>(span);
  return event;
}

// The event with its new texts and its new span.
Read<Event> changed_event(Event event, json::object const& input) {
  if (auto failure = set_details(event, input)) return std::move(*failure);
  if (has_instants(input) && has_dates(input))
    return wrong("start_date", "and end_date cannot be used with start_at and end_at");
  bool const says = input.contains("all_day");
  bool const all_day =
      says ? is_true(input, "all_day") : has_dates(input) || (event.all_day && !has_instants(input));
  bool const moves = has_instants(input) || has_dates(input) || all_day != event.all_day;
  if (!moves) return event;
  if (all_day && has_instants(input))
    return wrong("start_at", "and end_at cannot be used for an event of whole days");
  if (!all_day && has_dates(input))
    return wrong("start_date", "and end_date cannot be used for an event at a time of day");
  auto span = all_day ? changed_dates(event, input) : changed_instants(event, input);
  if (auto* const failure = std::get_if<MethodFailure>(&span)) return std::move(*failure);
  event.span = std::get<Span>(span);
  event.all_day = all_day;
  return event;
}

}  // namespace

boost::asio::awaitable<Read<Event>> read_new_event(json::object input, std::string users_zone) {
  auto read = new_single(input, users_zone);
  auto* const event = std::get_if<Event>(&read);
  if (event == nullptr) co_return read;
  auto complete = co_await with_new_series(std::move(*event), std::move(input));
  co_return complete;
}

Read<Event> read_single_changes(Event const& before, json::object const& input) {
  if (!has_changes(input))
    return wrong("the input", "must have at least one field to change besides event_id and occurrence_start");
  return changed_event(before, input);
}

boost::asio::awaitable<Read<Event>> read_changes(Event before, json::object input) {
  auto read = read_single_changes(before, input);
  auto* const event = std::get_if<Event>(&read);
  if (event == nullptr) co_return read;
  auto complete = co_await with_changed_series(std::move(*event), std::move(before), std::move(input));
  co_return complete;
}

Read<Window> read_day(std::string const& date, std::string const& zone) {
  auto day = read_date(date, "date");
  if (auto* const failure = std::get_if<MethodFailure>(&day)) return std::move(*failure);
  auto const first = std::get<local_days>(day);
  auto const found = Zone::find(zone);
  Window window;
  window.dates = {floating_ms(first), floating_ms(first) + kDayMs};
  window.time = window.dates;
  if (found) window.time = {found->day_begins(first), found->day_begins(first + std::chrono::days{1})};
  return window;
}

Read<Window> read_range(RangeText const& range, std::string const& zone) {
  auto span = read_span(range);
  if (auto* const failure = std::get_if<MethodFailure>(&span)) return std::move(*failure);
  auto const time = std::get<Span>(span);
  return Window{time, dates_of(time, Zone::find(zone))};
}

}  // namespace runnel::modules::calendar
