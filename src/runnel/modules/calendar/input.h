#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <string>
#include <string_view>
#include <variant>

#include "runnel/modules/calendar/repository.h"
#include "runnel/modules/method.h"

// Reads the inputs of the calendar's methods and routes. An input is already valid by its schema; what a
// schema cannot judge is checked here, and the failure names the field.
namespace runnel::modules::calendar {

template <class T>
using Read = std::variant<T, MethodFailure>;

// The event of an input that is valid by new_event.json, still without an id. It gets the user's time zone if
// the input has none, or UTC if this machine does not know the user's. Others get their turn on the core
// while a rule is checked.
boost::asio::awaitable<Read<Event>> read_new_event(boost::json::object input, std::string users_zone);

// The event with the changes of an input that is valid by event_changes.json. A start without an end moves
// the event: it lasts as long as before. A series keeps its exceptions as far as they still name occurrences
// (series_input.h). Others get their turn, as above.
boost::asio::awaitable<Read<Event>> read_changes(Event before, boost::json::object input);

// The same for an event that does not repeat, if the input has no rule.
Read<Event> read_single_changes(Event const& before, boost::json::object const& input);

// The day with this date in the zone, or in UTC if this machine does not know the zone. A day that the zone
// has skipped is an empty span of time.
Read<Window> read_day(std::string const& date, std::string const& zone);

// The range between two instants. Its dates are those of the zone, or of UTC if this machine does not know
// it. The names are those of the fields, for failures.
struct RangeText {
  std::string start;
  std::string end;
  char const* start_name = "start_at";
  char const* end_name = "end_at";
};
Read<Window> read_range(RangeText const& range, std::string const& zone);

// The field's text. Empty if the input does not have it.
std::string text_of(boost::json::object const& input, std::string_view field);

}  // namespace runnel::modules::calendar
