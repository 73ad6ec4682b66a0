#include "runnel/modules/calendar/ics/import.h"

#include <algorithm>
#include <utility>

#include "runnel/core/ids.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/sha256.h"
#include "runnel/modules/calendar/actions.h"

namespace runnel::modules::calendar {

namespace {

constexpr std::int64_t kSecondMs = 1000;
// They take at most a tenth of a second.
constexpr std::size_t kReadAtOnce = 25;

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

std::int64_t whole_seconds(std::int64_t ms) {
  return ms - ms % kSecondMs;
}

// Which of two versions of an event is the newer one (RFC 5546 2.1.5).
using Version = std::pair<std::int64_t, std::int64_t>;

// The version that the calendar has got from a file, or has given away in its own feed.
Version version_of(KeptEvent const& kept) {
  if (kept.imported) return {kept.imported->sequence, kept.imported->modified_at};
  return {kept.event.revision - 1, whole_seconds(kept.event.updated_at)};
}

// Whether the calendar has something newer of an imported event than the file's version: the user has changed
// the event here after that was made, or it is an older copy of the own feed, whose CREATED is when the event
// was imported. Their SEQUENCE does not tell, because both the feed and the source of the file count on from
// the version that was imported. A version that has no time may be newer.
bool is_ahead(KeptEvent const& kept, ImportedEvent const& version) {
  if (!kept.imported || version.modified_at == 0) return false;
  if (version.modified_at > whole_seconds(kept.event.updated_at)) return false;
  return version.created_at == whole_seconds(kept.event.created_at) ||
         digest_of(kept.event) != kept.imported->digest;
}

// A guest's calendar has the event already, if the file says the same as the guest sees. A guest sees no
// reminders.
ImportStep guest_step(Event seen, std::string const& digest) {
  seen.reminders.clear();
  if (seen.invite_status != "rejected" && digest == digest_of(seen)) return unchanged_step(seen);
  return failed_step(kNotOrganizer, "the user is invited to this event, and only who made it can change it");
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

ImportStep update_step(UserId const& user, ImportedEvent const& imported, Event const& kept,
                       std::string digest, std::int64_t now_ms) {
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

FileItem EventsOfFile::read_item(FileEvent const& from) {
  if (from.find("RRULE") != nullptr && ++series_ > kMostSeries)
    return MethodFailure{kTooManySeries, series_limit_text()};
  auto item = read_file_event(from, zones_);
  auto const* const imported = std::get_if<ImportedEvent>(&item);
  if (imported != nullptr && !uids_.insert(imported->uid).second)
    return MethodFailure{kInvalidEvent, "UID is that of an earlier event of the file"};
  return item;
}

bool EventsOfFile::read_some() {
  auto const end = std::min(items_.size() + kReadAtOnce, events_.size());
  while (items_.size() < end)
    items_.push_back(read_item(std::exchange(events_[items_.size()], {})));
  return items_.size() < events_.size();
}

std::string series_limit_text() {
  return "a user has at most " + std::to_string(kMostSeries) + " events that repeat";
}

std::string digest_of(Event const& event) {
  auto const seconds = [](std::int64_t ms) { return ms / kSecondMs; };
  std::string text;
  JsonObject{text}
      .text("title", event.title)
      .number("start", seconds(event.span.start_at))
      .number("end", seconds(whole_seconds_end(event)))
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

ImportStep plan_import(UserId const& user, ImportedEvent const& imported,
                       std::optional<KeptEvent> const& kept, std::int64_t now_ms) {
  auto digest = digest_of(imported.event);
  if (!kept) return create_step(user, imported, std::move(digest), now_ms);
  if (!kept->event.invite_id.empty()) return guest_step(kept->event, digest);
  bool const is_same = digest == (kept->imported ? kept->imported->digest : digest_of(kept->event));
  if (is_same || digest == digest_of(kept->event)) return unchanged_step(kept->event);
  Version const version{imported.sequence, imported.modified_at};
  auto const known = version_of(*kept);
  if (version < known || is_ahead(*kept, imported))
    return failed_step(kOutdatedEvent, "the calendar has a newer version of this event than the file");
  if (!kept->imported && version == known) return unchanged_step(kept->event);
  return update_step(user, imported, kept->event, std::move(digest), now_ms);
}

}  // namespace runnel::modules::calendar
