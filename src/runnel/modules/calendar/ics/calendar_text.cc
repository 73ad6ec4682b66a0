#include "runnel/modules/calendar/ics/calendar_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runnel/modules/calendar/ics/zone_component.h"

namespace runnel::modules::calendar {

bool CalendarText::add_one(ExportedEvent const& exported) {
  if (events_.size() == kMostFeedEvents) return false;
  auto text = event_component(exported);
  if (bytes_ + text.size() > kMostFeedBytes) return false;
  bytes_ += text.size();
  events_.push_back(std::move(text));
  if (!needs_zone(exported.event)) return true;
  auto const start = exported.event.span.start_at;
  auto const [zone, is_new] = zones_.try_emplace(exported.event.timezone, start);
  if (!is_new) zone->second = std::min(zone->second, start);
  return true;
}

bool CalendarText::add(std::vector<ExportedEvent> const& events) {
  cut_ = cut_ || !std::all_of(events.begin(), events.end(),
                              [this](ExportedEvent const& exported) { return add_one(exported); });
  return !cut_;
}

std::string CalendarText::head() const {
  std::string out =
      "BEGIN:VCALENDAR\r\n"
      "VERSION:2.0\r\n"
      "PRODID:-//Runnel//Runnel//EN\r\n"
      "CALSCALE:GREGORIAN\r\n"
      "REFRESH-INTERVAL;VALUE=DURATION:PT1H\r\n"
      "X-PUBLISHED-TTL:PT1H\r\n";
  out += cut_ ? "X-WR-CALNAME:Runnel (not all events)\r\n" : "X-WR-CALNAME:Runnel\r\n";
  if (cut_) out += "X-WR-CALDESC:The calendar has more events than a feed can have: some are left out.\r\n";
  for (auto const& [zone, first_ms] : zones_)
    out += zone_component(zone, first_ms);
  return out;
}

std::string CalendarText::finish() {
  constexpr std::string_view kEnd = "END:VCALENDAR\r\n";
  auto out = head();
  out.reserve(out.size() + bytes_ + kEnd.size());
  for (auto& event : events_)
    out += std::exchange(event, {});
  return out += kEnd;
}

}  // namespace runnel::modules::calendar
