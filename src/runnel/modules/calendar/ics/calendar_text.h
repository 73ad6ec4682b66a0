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

// The text of a calendar file (RFC 5545), which grows page by page. A pure function of the events.
class CalendarText {
 public:
  // False if there was no room for all of them. The calendar then says so itself, and nothing more may be
  // added.
  bool add(std::vector<ExportedEvent> const& events);

  // The whole file.
  [[nodiscard]] std::string finish() const;

 private:
  bool add_one(ExportedEvent const& exported);

  std::string events_;
  std::map<std::string, std::int64_t> zones_;  // The start of the first event that needs the zone.
  std::size_t count_ = 0;
  bool cut_ = false;
};

}  // namespace runnel::modules::calendar
