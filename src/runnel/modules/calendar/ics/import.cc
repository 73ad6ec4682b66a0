#include "runnel/modules/calendar/ics/import.h"

#include <set>
#include <tuple>
#include <utility>

#include "runnel/core/ids.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/sha256.h"
#include "runnel/modules/calendar/actions.h"

namespace runnel::modules::calendar {

namespace {

constexpr std::int64_t kSecondMs = 1000;

FileItem read_item(FileEvent const& from, FileZones& zones, std::set<std::string>& uids) {
  auto item = read_file_event(from, zones);
  auto const* const imported = std::get_if<ImportedEvent>(&item);
  if (imported != nullptr && !uids.insert(imported->uid).second)
    return MethodFailure{kInvalidEvent, "UID is that of an earlier event of the file"};
  return item;
}

ImportStep failed_step(char const* code, std::string message) {
  ImportStep step;
  step.failure = {code, std::move(message)};
  return step;
}

ImportStep unchanged_step(Event const& event) {
  ImportStep step;
  step.outcome = Outcome::unchanged;
  step.event_id = event.id;
  return step;
}

// Which of two versions of an event is the newer one (RFC 5546 2.1.5).
using Version = std::pair<std::int64_t, std::int64_t>;

// The version that the calendar has got from a file, or has given away in its own feed.
Version version_of(KeptEvent const& kept) {
  if (kept.imported) return {kept.imported->sequence, kept.imported->modified_at};
  return {kept.event.revision - 1, kept.event.updated_at - kept.event.updated_at % kSecondMs};
}

Imported to_keep(ImportedEvent const& imported, std::string digest) {
  return {imported.uid, imported.sequence, imported.modified_at, std::move(digest)};
}

ImportStep create_step(UserId const& user, ImportedEvent const& imported, std::string digest,
                       std::int64_t now_ms) {
  ImportStep step;
  step.outcome = Outcome::created;
  auto event = imported.event;
  event.id = "evt_" + mint_uuid();
  step.effect.push_back(add_event(user, event, now_ms));
  step.effect.push_back(keep_import(user, event.id, to_keep(imported, std::move(digest))));
  step.more_series = event.rrule.empty() ? 0 : 1;
  step.event_id = std::move(event.id);
  return step;
}

ImportStep update_step(UserId const& user, ImportedEvent const& imported, Event const& kept, std::string digest,
                       std::int64_t now_ms) {
  ImportStep step;
  step.outcome = Outcome::updated;
  step.event_id = kept.id;
  auto event = imported.event;
  event.id = kept.id;
  event.revision = kept.revision;
  step.effect.push_back(replace_event(user, event, now_ms));
  step.effect.push_back(keep_import(user, event.id, to_keep(imported, std::move(digest))));
  step.more_series = (event.rrule.empty() ? 0 : 1) - (kept.rrule.empty() ? 0 : 1);
  return step;
}

}  // namespace

std::variant<std::vector<FileItem>, MethodFailure> read_file(std::string_view file, std::string const& timezone) {
  auto read = read_calendar_file(file);
  if (auto* const failure = std::get_if<MethodFailure>(&read)) return std::move(*failure);
  auto& calendar = std::get<CalendarFile>(read);
  FileZones zones{std::move(calendar.locations), timezone};
  std::set<std::string> uids;
  std::vector<FileItem> out;
  out.reserve(calendar.events.size());
  for (auto const& event : calendar.events)
    out.push_back(read_item(event, zones, uids));
  return out;
}

std::string digest_of(Event const& event) {
  auto const seconds = [](std::int64_t ms) { return ms / kSecondMs; };
  std::string text;
  JsonObject{text}
      .text("title", event.title)
      .number("start", seconds(event.span.start_at))
      .number("end", seconds(event.span.end_at + kSecondMs - 1))
      .boolean("all_day", event.all_day)
      .text("timezone", event.timezone)
      .text("location", event.location)
      .text("description", event.description)
      .text("reminders", event.reminders)
      .text("rrule", event.rrule)
      .close();
  for (auto const exdate : event.exdates)
    text += std::to_string(seconds(exdate)) + ",";
  return sha256_hex(text);
}

ImportStep plan_import(UserId const& user, ImportedEvent const& imported, std::optional<KeptEvent> const& kept,
                       std::int64_t now_ms) {
  auto digest = digest_of(imported.event);
  if (!kept) return create_step(user, imported, std::move(digest), now_ms);
  if (!kept->event.invite_id.empty())
    return failed_step(kNotOrganizer, "the user is invited to this event, and only who made it can change it");
  bool const is_same = digest == (kept->imported ? kept->imported->digest : digest_of(kept->event));
  if (is_same || digest == digest_of(kept->event)) return unchanged_step(kept->event);
  Version const version{imported.sequence, imported.modified_at};
  auto const known = version_of(*kept);
  if (version < known)
    return failed_step(kOutdatedEvent, "the calendar has a newer version of this event than the file");
  if (!kept->imported && version == known) return unchanged_step(kept->event);
  return update_step(user, imported, kept->event, std::move(digest), now_ms);
}

}  // namespace runnel::modules::calendar
