#include "runnel/modules/calendar/recurrence/series_input.h"

#include <boost/json/value.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/core/time/instant.h"
#include "runnel/modules/calendar/actions.h"
#include "runnel/modules/calendar/recurrence/occurrences.h"
#include "runnel/modules/calendar/recurrence/recurrence.h"

namespace runnel::modules::calendar {

namespace json = boost::json;

namespace {

MethodFailure wrong_exdates(std::string const& why) {
  return MethodFailure{kInvalidInput, "exdates " + why};
}

// What names an occurrence: a date for whole days, and an instant for others.
std::optional<std::int64_t> parse_start(std::string_view text, bool all_day) {
  if (parse_day(text).has_value() != all_day) return std::nullopt;
  return parse_instant(text);
}

char const* form_of_start(bool all_day) {
  return all_day ? "a date such as 2026-05-01, because the event takes whole days"
                 : "an RFC 3339 instant with Z or an offset from UTC, such as 2026-05-01T09:00:00+02:00";
}

// The exceptions that the input has, if it has any. They are checked when the series is complete.
std::optional<MethodFailure> read_exdates(Event& event, json::object const& input) {
  auto const* const exdates = input.if_contains("exdates");
  if (exdates == nullptr) return std::nullopt;
  auto const& list = exdates->as_array();
  event.exdates.clear();
  if (!list.empty() && event.rrule.empty())
    return wrong_exdates("can only be used for an event that repeats, which has an rrule");
  for (auto const& item : list) {
    auto const start = parse_start(std::string_view{item.as_string()}, event.all_day);
    if (!start) return wrong_exdates(std::string{"must each be "} + form_of_start(event.all_day));
    event.exdates.push_back(*start);
  }
  return std::nullopt;
}

MethodFailure unknown_exdate() {
  return wrong_exdates(
      "must be starts of occurrences, as the occurrence_start of calendar.read names them; at least one is "
      "not");
}

MethodFailure no_occurrence_left() {
  return wrong_exdates("must leave at least one occurrence");
}

bool has_same_occurrences(Event const& a, Event const& b) {
  return a.rrule == b.rrule && a.all_day == b.all_day && a.timezone == b.timezone &&
         a.span.start_at == b.span.start_at && a.span.end_at == b.span.end_at;
}

// A plain function, because g++ 12 mishandles braces inside coroutines (CONTRIBUTING.md).
Read<Event> to_read(std::optional<MethodFailure> failure) {
  return std::move(*failure);
}

boost::asio::awaitable<Read<Event>> with_checked_exdates(Event event) {
  if (event.exdates.empty()) co_return event;
  co_await let_others_run();
  if (!unknown_exdates(event).empty()) co_return to_read(unknown_exdate());
  co_await let_others_run();
  if (!may_have_occurrences(event)) co_return to_read(no_occurrence_left());
  co_return event;
}

}  // namespace

boost::asio::awaitable<Read<Event>> with_new_series(Event event, json::object input) {
  event.rrule = text_of(input, "rrule");
  if (auto failure = read_exdates(event, input)) co_return to_read(std::move(failure));
  if (!event.rrule.empty()) co_await let_others_run();
  if (auto failure = complete_series(event)) co_return to_read(std::move(failure));
  auto checked = co_await with_checked_exdates(std::move(event));
  co_return checked;
}

boost::asio::awaitable<Read<Event>> with_changed_series(Event event, Event before, json::object input) {
  if (input.contains("rrule")) event.rrule = text_of(input, "rrule");
  if (auto failure = read_exdates(event, input)) co_return to_read(std::move(failure));
  bool const has_new_exdates = input.contains("exdates");
  if (!has_new_exdates && has_same_occurrences(event, before)) co_return event;
  if (!event.rrule.empty()) co_await let_others_run();
  if (auto failure = complete_series(event)) co_return to_read(std::move(failure));
  if (!has_new_exdates && !event.exdates.empty()) {
    co_await let_others_run();
    move_exdates(event, before);
  }
  auto checked = co_await with_checked_exdates(std::move(event));
  co_return checked;
}

Read<std::int64_t> read_occurrence(Event const& series, json::object const& input) {
  if (series.rrule.empty())
    return MethodFailure{kNoOccurrence, "this event does not repeat, so it has no occurrence_start"};
  auto const start = parse_start(text_of(input, "occurrence_start"), series.all_day);
  if (!start) {
    return MethodFailure{kInvalidInput,
                         std::string{"occurrence_start must be "} + form_of_start(series.all_day)};
  }
  if (!has_occurrence_at(series, *start))
    return MethodFailure{kNoOccurrence, "the event has no occurrence with this occurrence_start"};
  return *start;
}

Read<std::optional<Event>> without_occurrence(Event series, std::int64_t start_at) {
  if (series.exdates.size() >= kMostExdates) {
    return MethodFailure{kTooManyExceptions,
                         "a series has at most " + std::to_string(kMostExdates) +
                             " exceptions; end it with UNTIL in its rrule, and create another one"};
  }
  auto const place = std::lower_bound(series.exdates.begin(), series.exdates.end(), start_at);
  series.exdates.insert(place, start_at);
  if (!may_have_occurrences(series)) return std::optional<Event>{};
  return std::optional<Event>{std::move(series)};
}

}  // namespace runnel::modules::calendar
