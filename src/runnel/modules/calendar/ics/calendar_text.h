#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runnel/modules/calendar/ics/event_component.h"

namespace runnel::modules::calendar {

// A feed has at most so many events and bytes.
inline constexpr std::size_t kMostFeedEvents = 5000;
inline constexpr std::size_t kMostFeedBytes = std::size_t{4} * 1024 * 1024;

// The text of a calendar file (RFC 5545), which grows page by page. A pure function of the events. It is in
// memory only once.
class CalendarText {
 public:
  // False if there was no room for all of them. The calendar then says so itself, and nothing more may be
  // added.
  bool add(std::vector<ExportedEvent> const& events);

  // The whole file. To be called once: the events are given away.
  [[nodiscard]] std::string finish();

 private:
  bool add_one(ExportedEvent const& exported);
  [[nodiscard]] std::string head() const;

  std::vector<std::string> events_;
  std::size_t bytes_ = 0;                      // Of all events.
  std::map<std::string, std::int64_t> zones_;  // The start of the first event that needs the zone.
  bool cut_ = false;
};

}  // namespace runnel::modules::calendar
