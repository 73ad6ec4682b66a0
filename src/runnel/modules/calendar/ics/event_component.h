#pragma once

#include <cstdint>
#include <string>

#include "runnel/modules/calendar/repository.h"

namespace runnel::modules::calendar {

// An event as a file has it.
struct ExportedEvent {
  Event event;
  std::string uid;
  std::int64_t sequence = 0;
};

// Whether the event is written in its own time zone, so that the file needs a VTIMEZONE of it: an event at a
// time of day that repeats is at that time also when the clocks have changed. All others are in UTC or have
// dates.
bool needs_zone(Event const& event);

// The end of the event, so late in its second that a whole second is the end: no file has milliseconds.
std::int64_t whole_seconds_end(Event const& event);

// Its VEVENT (RFC 5545). Times are exact to a second: an event that begins or ends within one has all of it.
// Neither its guests nor its organizer are in it, because an iCalendar file names people by addresses, and
// users of this server have none. Control characters other than line breaks and tabs are left out of the
// texts.
//
// A series may start in the second of two hours that the clocks show when they are set back. Others read its
// first occurrence as in the first of them; its length and all other occurrences are right for them.
std::string event_component(ExportedEvent const& exported);

}  // namespace runnel::modules::calendar
