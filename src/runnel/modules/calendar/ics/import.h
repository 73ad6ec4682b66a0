#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runnel/modules/calendar/ics/file_rows.h"
#include "runnel/modules/calendar/ics/imported_event.h"
#include "runnel/modules/method.h"

// Adds the events of an iCalendar file to a user's calendar.
namespace runnel::modules::calendar {

// The codes of failures of one event, besides those of imported_event.h.
inline constexpr char kOutdatedEvent[] = "OUTDATED_EVENT";
inline constexpr char kTooManySeries[] = "TOO_MANY_SERIES";

// What a file has for each of its events, in its order.
using FileItem = std::variant<ImportedEvent, MethodFailure>;

// Reads the whole file; a failure is one of the file as a whole. `timezone` is the zone of times that have none:
// a name in the IANA database. Of two events with the same UID the second is a failure.
std::variant<std::vector<FileItem>, MethodFailure> read_file(std::string_view file, std::string const& timezone);

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

// `kept` is the event that the user has under this UID. The same event again changes nothing, whatever the user
// has changed here since then; another version replaces it, unless it is older than what was imported last.
ImportStep plan_import(UserId const& user, ImportedEvent const& imported, std::optional<KeptEvent> const& kept,
                       std::int64_t now_ms);

}  // namespace runnel::modules::calendar
