// Any bytes as an iCalendar file.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "fuzz/target.h"
#include "runnel/core/text/text.h"
#include "runnel/modules/calendar/ics/calendar_text.h"
#include "runnel/modules/calendar/ics/import.h"

namespace {

using namespace runnel::modules::calendar;

// Empty if the file as a whole is refused.
std::vector<FileItem> items_of(std::string_view file) {
  auto read = read_calendar_file(file);
  auto const* const failure = std::get_if<runnel::modules::MethodFailure>(&read);
  require(failure == nullptr || runnel::is_utf8(failure->message), "a refusal can be told");
  if (failure != nullptr) return {};
  EventsOfFile events{std::get<CalendarFile>(std::move(read)), "Europe/Berlin"};
  while (events.read_some()) {
  }
  return events.items();
}

void check_kept(ImportedEvent const& imported) {
  auto const& event = imported.event;
  auto const [start, end] = event.span;
  require(start >= 0 && start < end && end <= kLastMs && end - start <= kLongestSpanMs,
          "the span can be stored");
  require(!event.all_day || (start % kDayMs == 0 && end % kDayMs == 0), "whole days begin at midnight");
  for (auto const& text : {imported.uid, event.title, event.location, event.description, event.timezone})
    require(runnel::is_utf8(text) && text.find('\0') == std::string::npos, "the texts can be stored");
  require(!imported.uid.empty() && !runnel::is_blank(event.title), "the event has a UID and a title");
  require(event.rrule.empty() == (event.series_end_at == 0), "a series has an end, and nothing else has");
  require(event.exdates.empty() || !event.rrule.empty(), "only a series has exceptions");
}

// Whoever reads the feed of somebody who has imported the file gets the same event.
void check_round_trip(ImportedEvent const& imported) {
  ExportedEvent exported;
  exported.event = imported.event;
  exported.uid = imported.uid;
  CalendarText text;
  require(text.add({exported}), "one event has room in a feed");
  auto const again = items_of(text.finish());
  require(again.size() == 1, "the event stays in its component");
  auto const* const kept = std::get_if<ImportedEvent>(&again.front());
  require(kept != nullptr, "what was imported once can be imported again");
  require(digest_of(kept->event) == digest_of(imported.event), "and says the same");
}

}  // namespace

RUNNEL_FUZZ_TARGET(ics) {
  auto const items = items_of({reinterpret_cast<char const*>(data), size});
  require(items.size() <= kMostFileEvents, "there are not too many events");
  for (auto const& item : items) {
    auto const* const imported = std::get_if<ImportedEvent>(&item);
    if (imported == nullptr) continue;
    check_kept(*imported);
    check_round_trip(*imported);
  }
  return 0;
}
