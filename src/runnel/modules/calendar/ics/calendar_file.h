#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runnel/modules/calendar/ics/content_line.h"
#include "runnel/modules/method.h"

// Reads an iCalendar file (RFC 5545) as far as its structure goes. Every file is read in a time that grows
// with its size only, and takes a few times its size of memory at most: what cannot be used is not kept.
namespace runnel::modules::calendar {

inline constexpr std::size_t kMostFileEvents = 1000;

// The codes of failures of a whole file.
inline constexpr char kInvalidCalendar[] = "INVALID_CALENDAR";
inline constexpr char kTooManyEvents[] = "TOO_MANY_EVENTS";

// A VEVENT, with those of its properties that an event of the calendar can be made of.
struct FileEvent {
  // At most two of each name: the second only tells that there is one. Those EXDATE that have the same TZID
  // are one, with all their values.
  std::vector<ContentLine> properties;
  std::vector<ContentLine> triggers;  // The first TRIGGER of each VALARM that has one.
  std::string fault;                  // The first reason why none of it can be used, and nothing else is kept
                                      // then. Empty if that is not so.

  // Null if the event does not have the property. Of several the first.
  [[nodiscard]] ContentLine const* find(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
};

struct CalendarFile {
  std::vector<FileEvent> events;
  // The X-LIC-LOCATION of a VTIMEZONE, which is a name in the IANA database, by its TZID.
  std::map<std::string, std::string> locations;
};

std::variant<CalendarFile, MethodFailure> read_calendar_file(std::string_view file);

}  // namespace runnel::modules::calendar
