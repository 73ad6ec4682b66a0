#include "runnel/modules/calendar/ics/file_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runnel/modules/calendar/event_rows.h"

namespace runnel::modules::calendar {

using store::Async;

namespace {

#define RUNNEL_UID_COLUMNS "u.uid, u.sequence, u.modified_at, u.digest"
#define RUNNEL_OWN_FILE_EVENT                                                                    \
  "SELECT " RUNNEL_EVENT_COLUMNS ", CAST(NULL AS text), CAST(NULL AS text), " RUNNEL_UID_COLUMNS \
  " FROM calendar_events e LEFT JOIN calendar_imports u ON u.event_id = e.id "
#define RUNNEL_INVITED_FILE_EVENT                                         \
  "SELECT " RUNNEL_EVENT_COLUMNS ", i.id, i.status, " RUNNEL_UID_COLUMNS  \
  " FROM calendar_invites i JOIN calendar_events e ON e.id = i.event_id " \
  "LEFT JOIN calendar_imports u ON u.event_id = e.id "

// $2 is the instant after which the events end, $3 and $4 are the last event of the page before, and $6 is
// the instant after which an event must start to end after $2.
constexpr char kOwnSeries[] = RUNNEL_OWN_FILE_EVENT
    "WHERE e.owner_id = $1 AND e.rrule IS NOT NULL AND e.series_end_at > $2 AND (e.series_end_at, e.id) > "
    "($3, $4) "
    "ORDER BY e.series_end_at, e.id LIMIT $5";

constexpr char kOwnEvents[] = RUNNEL_OWN_FILE_EVENT
    "WHERE e.owner_id = $1 AND e.rrule IS NULL AND e.start_at > $6 AND e.end_at > $2 "
    "AND (e.start_at, e.id) > ($3, $4) ORDER BY e.start_at, e.id LIMIT $5";

constexpr char kAcceptedSeries[] = RUNNEL_INVITED_FILE_EVENT
    "WHERE i.user_id = $1 AND i.status = 'accepted' AND i.series_end_at IS NOT NULL AND i.series_end_at > $2 "
    "AND (i.series_end_at, i.id) > ($3, $4) ORDER BY i.series_end_at, i.id LIMIT $5";

constexpr char kAcceptedEvents[] = RUNNEL_INVITED_FILE_EVENT
    "WHERE i.user_id = $1 AND i.status = 'accepted' AND i.series_end_at IS NULL AND i.start_at > $6 "
    "AND i.end_at > $2 AND (i.start_at, i.id) > ($3, $4) ORDER BY i.start_at, i.id LIMIT $5";

constexpr char kFindUid[] =
    "SELECT " RUNNEL_EVENT_COLUMNS ", CAST(NULL AS text), CAST(NULL AS text), " RUNNEL_UID_COLUMNS
    " FROM calendar_imports u JOIN calendar_events e ON e.id = u.event_id "
    "WHERE u.owner_id = $1 AND u.uid = $2 "
    "UNION ALL " RUNNEL_OWN_FILE_EVENT
    "WHERE e.id = $2 AND e.owner_id = $1 AND u.event_id IS NULL "
    "UNION ALL " RUNNEL_INVITED_FILE_EVENT
    "WHERE i.id = $2 AND i.user_id = $1 "
    "UNION ALL " RUNNEL_INVITED_FILE_EVENT
    "WHERE i.event_id = $2 AND i.user_id = $1 AND i.status <> 'rejected'";

#undef RUNNEL_INVITED_FILE_EVENT
#undef RUNNEL_OWN_FILE_EVENT
#undef RUNNEL_UID_COLUMNS

constexpr char kKeepImport[] = R"sql(
INSERT INTO calendar_imports(event_id, owner_id, uid, sequence, modified_at, digest) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (event_id) DO UPDATE SET sequence = excluded.sequence, modified_at = excluded.modified_at,
  digest = excluded.digest)sql";

constexpr char kPutFeed[] = R"sql(
INSERT INTO calendar_feeds(owner_id, hash, created_at) VALUES ($1, $2, $3)
ON CONFLICT (owner_id) DO UPDATE SET hash = excluded.hash, created_at = excluded.created_at)sql";

char const* text_of_part(Part part) {
  switch (part) {
    case Part::own_series:
      return kOwnSeries;
    case Part::own_events:
      return kOwnEvents;
    case Part::accepted_series:
      return kAcceptedSeries;
    case Part::accepted_events:
      break;
  }
  return kAcceptedEvents;
}

// Every change of an event makes its SEQUENCE grow. An import sets the first one.
std::int64_t sequence_of(Event const& event, std::int64_t imported) {
  return std::clamp<std::int64_t>(imported + event.revision - 1, 0, std::numeric_limits<int>::max());
}

std::optional<Imported> to_imported(store::SqlResult const& found, std::size_t row) {
  if (found.is_null(row, kEventColumns)) return std::nullopt;
  return Imported{found.text(row, kEventColumns), found.integer(row, kEventColumns + 1),
                  found.integer(row, kEventColumns + 2), found.text(row, kEventColumns + 3)};
}

// A guest's UID is the invitation, which nobody else has in a file: what the organizer has imported, or the
// event itself as the organizer's feed has it, may be in the guest's calendar a second time.
std::string uid_of(Event const& event, std::optional<Imported> const& imported) {
  if (!event.invite_id.empty()) return event.invite_id;
  return imported ? imported->uid : event.id;
}

ExportedEvent to_exported(store::SqlResult const& found, std::size_t row) {
  ExportedEvent out;
  out.event = to_event(found, row);
  auto const imported = to_imported(found, row);
  out.uid = uid_of(out.event, imported);
  out.sequence = sequence_of(out.event, imported ? imported->sequence : 0);
  return out;
}

bool is_series(Part part) {
  return part == Part::own_series || part == Part::accepted_series;
}

PageEnd end_of(Event const& event, Part part) {
  return {is_series(part) ? event.series_end_at : event.span.start_at,
          event.invite_id.empty() ? event.id : event.invite_id};
}

store::SqlStatement page_statement(UserId const& user, Part part, std::int64_t since, PageEnd const& after,
                                   std::size_t limit) {
  auto out = store::statement(text_of_part(part), user.text, since, after.at, after.id,
                              static_cast<std::int64_t>(limit));
  if (!is_series(part)) out.parameters.emplace_back(since - kLongestSpanMs - 1);
  return out;
}

Page to_page(store::SqlResult const& found, Part part) {
  Page out;
  out.events.reserve(found.size());
  for (std::size_t row = 0; row < found.size(); ++row)
    out.events.push_back(to_exported(found, row));
  if (!out.events.empty()) out.end = end_of(out.events.back().event, part);
  return out;
}

std::optional<KeptEvent> to_kept(store::SqlResult const& found) {
  std::optional<KeptEvent> out;
  for (std::size_t row = 0; row < found.size(); ++row) {
    auto event = to_event(found, row);
    bool const is_own = event.invite_id.empty();
    if (is_own) return KeptEvent{std::move(event), to_imported(found, row)};
    if (!out) out = KeptEvent{std::move(event), std::nullopt};
  }
  return out;
}

}  // namespace

store::SqlStatement keep_import(UserId const& owner, std::string event_id, Imported const& imported) {
  return store::statement(kKeepImport, std::move(event_id), owner.text, imported.uid, imported.sequence,
                          imported.modified_at, imported.digest)
      .touching(1);
}

Async<Page> FileRows::page(UserId user, Part part, std::int64_t since, PageEnd after, std::size_t limit) {
  auto const found = co_await sql_->read(page_statement(user, part, since, after, limit));
  if (!found) co_return found.error();
  co_return to_page(*found, part);
}

Async<std::optional<KeptEvent>> FileRows::find_uid(UserId user, std::string uid) {
  auto const found = co_await sql_->read(store::statement(kFindUid, user.text, std::move(uid)));
  if (!found) co_return found.error();
  co_return to_kept(*found);
}

Async<void> FileRows::put_feed(UserId owner, std::string hash, std::int64_t now_ms) {
  auto const written =
      co_await sql_->write_one(store::statement(kPutFeed, owner.text, std::move(hash), now_ms).touching(1));
  if (!written) co_return written.error();
  co_return Result<void>{};
}

Async<void> FileRows::remove_feed(UserId owner) {
  auto const written = co_await sql_->write_one(
      store::statement("DELETE FROM calendar_feeds WHERE owner_id = $1", owner.text));
  if (!written) co_return written.error();
  co_return Result<void>{};
}

Async<std::optional<std::int64_t>> FileRows::feed_since(UserId owner) {
  auto const found = co_await sql_->read(
      store::statement("SELECT created_at FROM calendar_feeds WHERE owner_id = $1", owner.text));
  if (!found) co_return found.error();
  if (found->empty()) co_return std::nullopt;
  co_return found->integer(0, 0);
}

Async<std::optional<UserId>> FileRows::feed_owner(std::string hash) {
  auto const found = co_await sql_->read(
      store::statement("SELECT owner_id FROM calendar_feeds WHERE hash = $1", std::move(hash)));
  if (!found) co_return found.error();
  if (found->empty()) co_return std::nullopt;
  co_return UserId{found->text(0, 0)};
}

}  // namespace runnel::modules::calendar
