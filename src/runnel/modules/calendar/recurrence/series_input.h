#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>

#include "runnel/modules/calendar/input.h"
#include "runnel/modules/calendar/repository.h"

// Reads what inputs say about repeating events. They are already valid by their schemas.
namespace runnel::modules::calendar {

// A new event with the `rrule` and the `exdates` of the input. The failure says what is wrong with them.
// Others get their turn on the core before each search for occurrences.
boost::asio::awaitable<Read<Event>> with_new_series(Event event, boost::json::object input);

// The same for an event that was `before`, with its new span and zone. An empty rule ends the repetition. A
// rule that stays must fit the new span. Exceptions that the input does not have move with the start, and
// those that name no occurrence any more are dropped (recurrence.h).
boost::asio::awaitable<Read<Event>> with_changed_series(Event event, Event before, boost::json::object input);

// The start of an occurrence of the series that takes place, as the input's `occurrence_start` names it. The
// failure is kNotFound if there is none.
Read<std::int64_t> read_occurrence(Event const& series, boost::json::object const& input);

// The series without that occurrence. Empty if none is left. A failure if it has too many exceptions.
Read<std::optional<Event>> without_occurrence(Event series, std::int64_t start_at);

}  // namespace runnel::modules::calendar
