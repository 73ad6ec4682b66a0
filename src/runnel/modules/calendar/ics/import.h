#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/modules/calendar/ics/file_rows.h"
#include "runnel/modules/calendar/ics/imported_event.h"
#include "runnel/modules/method.h"

// Adds the events of an iCalendar file to a user's calendar.
namespace runnel::modules::calendar {

// The code of a failure of one event, besides those of imported_event.h and actions.h.
inline constexpr char kOutdatedEvent[] = "OUTDATED_EVENT";

// What a file has for each of its events, in its order.
using FileItem = std::variant<ImportedEvent, MethodFailure>;

// Reads the events of a file, some at a time, because a rule of recurrence takes some milliseconds to check.
class EventsOfFile {
 public:
  // `floating` is the zone of times that have none: a name in the IANA database.
  EventsOfFile(CalendarFile file, std::string floating)
      : events_{std::move(file.events)}, zones_{std::move(file.locations), std::move(floating)} {}

  // Reads the next few events. False if none is left after them.
  bool read_some();

  // Those that have been read. Of two events with the same UID the second is a failure, and so is every event
  // that repeats after as many as a user may have.
  [[nodiscard]] std::vector<FileItem> const& items() const { return items_; }

 private:
  [[nodiscard]] FileItem read_item(FileEvent const& from);

  std::vector<FileEvent> events_;
  FileZones zones_;
  std::vector<FileItem> items_;
  std::set<std::string> uids_;
  std::int64_t series_ = 0;
};

// The words of kTooManySeries.
std::string series_limit_text();

// A digest of what a file can say about an event, except for its version.
std::string digest_of(Event const& event);

enum class Outcome : std::uint8_t { created, updated, unchanged, failed };

// What becomes of one event of a file.
struct ImportStep {
  Outcome outcome = Outcome::failed;
  std::string event_id;
  std::vector<store::SqlStatement> effect;
  MethodFailure failure{"", ""};
  std::int64_t more_series = 0;  // 1 if one more event of the user repeats then, -1 if one less does.
};

// `kept` is the event that the user has under this UID. The same event again changes nothing, whatever the
// user has changed here since then; another version replaces it, unless it is older than what was imported
// last, or was made before the user's own change. An older copy of the user's own feed replaces nothing. Of
// an event of another user nothing can be replaced.
ImportStep plan_import(UserId const& user, ImportedEvent const& imported,
                       std::optional<KeptEvent> const& kept, std::int64_t now_ms);

}  // namespace runnel::modules::calendar
