#pragma once

#include <variant>

#include "runnel/modules/calendar/repository.h"
#include "runnel/modules/method.h"

// Reads the inputs of the calendar's methods. An input is already valid by its schema; what a schema cannot
// judge is checked here, and the failure names the field.
namespace runnel::modules::calendar {

template <class T>
using Read = std::variant<T, MethodFailure>;

// The event of an input of calendar.create, still without an id. It gets the user's time zone if the input
// has none, or UTC if this machine does not know the user's.
Read<Event> read_new_event(MethodCall const& call);

// What an input of calendar.read with the mode `day` or `range` asks for. A day is one of the user's time
// zone, or of UTC if this machine does not know that. A day that the zone has skipped is an empty span.
Read<Span> read_span(MethodCall const& call);

// The field's text. Empty if the input does not have it.
std::string text_of(boost::json::object const& input, std::string_view field);

}  // namespace runnel::modules::calendar
