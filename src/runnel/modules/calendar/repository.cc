#include "runnel/modules/calendar/repository.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include "runnel/modules/calendar/event_rows.h"

namespace runnel::modules::calendar {

using store::Async;
using store::SqlStatement;

namespace {

static_assert(kMostSeries == 500 && kMostGuests == 200 && kMostPending == 1000 && kMostInvitedAtOnce == 50,
              "the statements below have the numbers in their texts");

// Whether the event $1 of the owner $2 may have the rule $12: kMostSeries others at most, less one. The index
// of series counts them.
#define RUNNEL_ROOM_FOR_SERIES                                                   \
  "(CAST($12 AS text) IS NULL OR 500 > (SELECT count(*) FROM calendar_events s " \
  "WHERE s.owner_id = $2 AND s.rrule IS NOT NULL AND s.id <> $1))"

// A repeat updates the row with its own value, so that it touches one row like the first time.
constexpr char kAdd[] = R"sql(
INSERT INTO calendar_events(id, owner_id, title, start_at, end_at, timezone, location, description, all_day, reminders,
                            created_at, updated_at, rrule, exdates, series_end_at)
SELECT CAST($1 AS text), CAST($2 AS text), $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, CAST($12 AS text), $13, $14
WHERE )sql" RUNNEL_ROOM_FOR_SERIES R"sql(
ON CONFLICT (id) DO UPDATE SET id = excluded.id WHERE calendar_events.owner_id = excluded.owner_id)sql";

// What is a series already can always be changed.
constexpr char kReplace[] = R"sql(
UPDATE calendar_events
SET title = $3, start_at = $4, end_at = $5, timezone = $6, location = $7, description = $8, all_day = $9,
    reminders = $10, updated_at = $11, revision = revision + 1, rrule = CAST($12 AS text), exdates = $13,
    series_end_at = $14
WHERE id = $1 AND owner_id = $2 AND revision = $15 AND (rrule IS NOT NULL OR )sql" RUNNEL_ROOM_FOR_SERIES ")";

#undef RUNNEL_ROOM_FOR_SERIES

constexpr char kRemoveEvent[] = "DELETE FROM calendar_events WHERE id = $1 AND owner_id = $2";

constexpr char kRemoveUnchanged[] =
    "DELETE FROM calendar_events WHERE id = $1 AND owner_id = $2 AND revision = $3";

// Whether the user may get one more invitation that is pending. An index counts them.
#define RUNNEL_ROOM_FOR_INVITE(USER) \
  "1000 > (SELECT count(*) FROM calendar_invites p WHERE p.user_id = " USER " AND p.status = 'pending')"

constexpr char kAddInvite[] = R"sql(
INSERT INTO calendar_invites(id, event_id, owner_id, user_id, status, start_at, end_at, series_end_at, created_at,
                             updated_at)
SELECT CAST($1 AS text), id, owner_id, CAST($2 AS text), 'pending', start_at, end_at, series_end_at,
       CAST($3 AS bigint), CAST($3 AS bigint)
FROM calendar_events WHERE id = $4 AND owner_id = $5
  AND 200 > (SELECT count(*) FROM calendar_invites g WHERE g.event_id = $4)
  AND )sql" RUNNEL_ROOM_FOR_INVITE("$2") R"sql(
ON CONFLICT (event_id, user_id) DO NOTHING)sql";

// The ids are made from that of the new event, which is a UUID after evt_, so that the statement can be
// repeated.
constexpr char kCopyGuests[] = R"sql(
INSERT INTO calendar_invites(id, event_id, owner_id, user_id, status, start_at, end_at, series_end_at, created_at,
                             updated_at)
SELECT 'inv_' || substr(e.id, 5) || '_' || row_number() OVER (ORDER BY i.user_id), e.id, e.owner_id, i.user_id, i.status,
       e.start_at, e.end_at, e.series_end_at, CAST($4 AS bigint), CAST($4 AS bigint)
FROM calendar_invites i JOIN calendar_events e ON e.id = $3 AND e.owner_id = i.owner_id
WHERE i.event_id = $2 AND i.owner_id = $1
  AND (i.status = 'accepted' OR (i.status = 'pending' AND )sql" RUNNEL_ROOM_FOR_INVITE("i.user_id") R"sql())
ON CONFLICT (event_id, user_id) DO NOTHING)sql";

constexpr char kInviteAgain[] = R"sql(
UPDATE calendar_invites SET status = 'pending', updated_at = $3
WHERE id = $1 AND owner_id = $2 AND status = 'rejected' AND )sql" RUNNEL_ROOM_FOR_INVITE(
    "calendar_invites.user_id");

#undef RUNNEL_ROOM_FOR_INVITE

// Parameters that are not needed are null.
constexpr char kFullGuests[] = R"sql(
SELECT user_id FROM calendar_invites
WHERE status = 'pending'
  AND user_id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
                  $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42,
                  $43, $44, $45, $46, $47, $48, $49, $50)
GROUP BY user_id HAVING count(*) >= 1000 ORDER BY user_id)sql";

constexpr char kAnswer[] =
    "UPDATE calendar_invites SET status = $3, updated_at = $4 WHERE id = $1 AND user_id = $2";

constexpr char kGuests[] =
    "SELECT id, user_id, status FROM calendar_invites WHERE event_id = $1 ORDER BY user_id, id";

#define RUNNEL_OWN(COLUMNS) \
  "SELECT " COLUMNS ", CAST(NULL AS text), CAST(NULL AS text) FROM calendar_events e "
#define RUNNEL_INVITED(COLUMNS)               \
  "SELECT " COLUMNS                           \
  ", i.id, i.status FROM calendar_invites i " \
  "JOIN calendar_events e ON e.id = i.event_id "
#define RUNNEL_OWN_EVENT RUNNEL_OWN(RUNNEL_EVENT_COLUMNS)
#define RUNNEL_INVITED_EVENT RUNNEL_INVITED(RUNNEL_EVENT_COLUMNS)

// The beginning of a description, where the parameter says how much of it is read.
#define RUNNEL_CUT(PARAMETER) "substr(e.description, 1, CAST(" PARAMETER " AS integer))"
// An event in a list, which shows no exceptions.
#define RUNNEL_SHORT(PARAMETER) RUNNEL_EVENT_COLUMNS_WITH(RUNNEL_CUT(PARAMETER), "CAST(NULL AS text)")
// A series in a list, whose exceptions are needed to find its occurrences.
#define RUNNEL_SERIES(PARAMETER) RUNNEL_EVENT_COLUMNS_WITH(RUNNEL_CUT(PARAMETER), "e.exdates")

// $2 to $3 is the span of time, $4 to $5 the span of dates.
#define RUNNEL_OVERLAPS                                                                                    \
  "CASE WHEN e.all_day = 1 THEN e.start_at < $5 AND e.end_at > $4 ELSE e.start_at < $3 AND e.end_at > $2 " \
  "END "

#define RUNNEL_OWN_LISTED RUNNEL_OWN(RUNNEL_SHORT("$10"))
#define RUNNEL_INVITED_LISTED RUNNEL_INVITED(RUNNEL_SHORT("$10"))

// A part of kOverlapping for events of the same length: `<=` or `>` a day. They start after the instant AFTER
// and before $8, or they cannot reach into the window. That follows from the other conditions and keeps the
// query away from all other events.
#define RUNNEL_OWN_PART(AFTER, LENGTH)         \
  "SELECT * FROM (" RUNNEL_OWN_LISTED          \
  "WHERE e.owner_id = $1 AND e.rrule IS NULL " \
  "AND e.start_at > " AFTER                    \
  " AND e.start_at < $8 "                      \
  "AND e.end_at - e.start_at " LENGTH          \
  " 86400000 "                                 \
  "AND " RUNNEL_OVERLAPS "ORDER BY e.start_at, e.id LIMIT $9) own_part "
// The same of invitations. All that they say themselves is asked before the event is looked up.
#define RUNNEL_INVITED_PART(STATUS, AFTER, LENGTH)                                       \
  "UNION ALL "                                                                           \
  "SELECT * FROM (" RUNNEL_INVITED_LISTED "WHERE i.user_id = $1 AND i.status = '" STATUS \
  "' AND i.series_end_at IS NULL AND i.start_at > " AFTER                                \
  " AND i.start_at < $8 AND i.end_at > $11 "                                             \
  "AND i.end_at - i.start_at " LENGTH                                                    \
  " 86400000 "                                                                           \
  "AND " RUNNEL_OVERLAPS "ORDER BY i.start_at, i.id LIMIT $9) invited_part "

#define RUNNEL_OWN_AND_ACCEPTED                                                       \
  RUNNEL_OWN_PART("$6", "<=")                                                         \
  "UNION ALL " RUNNEL_OWN_PART("$7", ">") RUNNEL_INVITED_PART("accepted", "$6", "<=") \
      RUNNEL_INVITED_PART("accepted", "$7", ">")

// $6 and $7 are the instants after which a short and a long event must start, and $11 is the first one of the
// window. Each part stops at the limit, so that a crowded window costs no more than what is shown.
constexpr char kOverlapping[] = RUNNEL_OWN_AND_ACCEPTED RUNNEL_INVITED_PART("pending", "$6", "<=")
    RUNNEL_INVITED_PART("pending", "$7", ">") "ORDER BY 3, 1 LIMIT $9";

constexpr char kOverlappingAccepted[] = RUNNEL_OWN_AND_ACCEPTED "ORDER BY 3, 1 LIMIT $9";

#define RUNNEL_OWN_SERIES RUNNEL_OWN(RUNNEL_SERIES("$7"))
#define RUNNEL_INVITED_SERIES RUNNEL_INVITED(RUNNEL_SERIES("$7"))

// Series that have begun before $3 and are over after $2: a page after the one with the end $4 and the id $5.
constexpr char kOwnSeries[] = RUNNEL_OWN_SERIES
    "WHERE e.owner_id = $1 AND e.rrule IS NOT NULL AND e.series_end_at > $2 "
    "AND e.start_at < $3 AND (e.series_end_at, e.id) > ($4, $5) "
    "ORDER BY e.series_end_at, e.id LIMIT $6";

// The same of others, after the invitation with the status $8. Before 'rejected' are 'accepted' and
// 'pending'.
constexpr char kInvitedSeries[] = RUNNEL_INVITED_SERIES
    "WHERE i.user_id = $1 AND i.series_end_at IS NOT NULL AND i.status < 'rejected' "
    "AND i.status <> $9 AND i.series_end_at > $2 AND i.start_at < $3 "
    "AND (i.status, i.series_end_at, i.id) > ($8, $4, $5) "
    "ORDER BY i.status, i.series_end_at, i.id LIMIT $6";

constexpr char kCountSeries[] =
    "SELECT count(*) FROM calendar_events WHERE owner_id = $1 AND rrule IS NOT NULL";

constexpr char kFindEvent[] =
    RUNNEL_OWN_EVENT "WHERE e.id = $2 AND e.owner_id = $1 UNION ALL " RUNNEL_INVITED_EVENT
                     "WHERE i.event_id = $2 AND i.user_id = $1 AND i.status <> 'rejected'";

constexpr char kInvites[] = RUNNEL_INVITED(
    RUNNEL_SHORT("$4")) "WHERE i.user_id = $1 AND i.status = $2 ORDER BY i.start_at, i.id LIMIT $3";

constexpr char kFindInvite[] = RUNNEL_INVITED_EVENT "WHERE i.id = $2 AND i.user_id = $1";

#undef RUNNEL_INVITED_SERIES
#undef RUNNEL_OWN_SERIES
#undef RUNNEL_OWN_AND_ACCEPTED
#undef RUNNEL_INVITED_PART
#undef RUNNEL_OWN_PART
#undef RUNNEL_INVITED_LISTED
#undef RUNNEL_OWN_LISTED
#undef RUNNEL_OVERLAPS
#undef RUNNEL_SERIES
#undef RUNNEL_SHORT
#undef RUNNEL_CUT
#undef RUNNEL_INVITED_EVENT
#undef RUNNEL_OWN_EVENT
#undef RUNNEL_INVITED
#undef RUNNEL_OWN

std::string to_json(std::vector<std::int64_t> const& instants) {
  if (instants.empty()) return "";
  return boost::json::serialize(boost::json::array(instants.begin(), instants.end()));
}

std::vector<Event> to_events(store::SqlResult const& found) {
  std::vector<Event> events;
  events.reserve(found.size());
  for (std::size_t row = 0; row < found.size(); ++row)
    events.push_back(to_event(found, row));
  return events;
}

std::optional<Event> to_one(store::SqlResult const& found) {
  return found.empty() ? std::nullopt : std::optional{to_event(found, 0)};
}

std::vector<Guest> to_guests(store::SqlResult const& found) {
  std::vector<Guest> out;
  for (std::size_t row = 0; row < found.size(); ++row)
    out.push_back({found.text(row, 0), found.text(row, 1), found.text(row, 2)});
  return out;
}

store::SqlValue series_end(Event const& event) {
  if (event.rrule.empty()) return std::monostate{};
  return event.series_end_at;
}

SqlStatement with_event(char const* text, UserId const& owner, Event const& event, std::int64_t now_ms) {
  return store::statement(text, event.id, owner.text, event.title, event.span.start_at, event.span.end_at,
                          event.timezone, store::null_if_empty(event.location),
                          store::null_if_empty(event.description), std::int64_t{event.all_day ? 1 : 0},
                          store::null_if_empty(event.reminders), now_ms, store::null_if_empty(event.rrule),
                          store::null_if_empty(to_json(event.exdates)), series_end(event));
}

bool is_empty(Span span) {
  return span.start_at >= span.end_at;
}

// Both spans of the window together. An empty one does not count, because nothing has a part in it.
Span reach_of(Window const& window) {
  if (is_empty(window.dates)) return window.time;
  if (is_empty(window.time)) return window.dates;
  return {std::min(window.time.start_at, window.dates.start_at),
          std::max(window.time.end_at, window.dates.end_at)};
}

SqlStatement overlapping_statement(UserId const& user, Window const& window, std::size_t limit, Reading how) {
  auto const [first, last] = reach_of(window);
  auto const time = is_empty(window.time) ? Span{} : window.time;
  auto const dates = is_empty(window.dates) ? Span{} : window.dates;
  auto const* const text = how.pending == Pending::shown ? kOverlapping : kOverlappingAccepted;
  return store::statement(text, user.text, time.start_at, time.end_at, dates.start_at, dates.end_at,
                          first - kDayMs - 1, first - kLongestSpanMs, last, static_cast<std::int64_t>(limit),
                          how.description, first);
}

SqlStatement series_statement(char const* text, UserId const& user, Window const& window, Reading how,
                              SeriesPlace const& after, std::size_t limit) {
  auto const [first, last] = reach_of(window);
  return store::statement(text, user.text, first, last, after.end_at, after.id,
                          static_cast<std::int64_t>(limit), how.description);
}

SqlStatement invited_series_statement(UserId const& user, Window const& window, Reading how,
                                      SeriesPlace const& after, std::size_t limit) {
  auto out = series_statement(kInvitedSeries, user, window, how, after, limit);
  out.parameters.emplace_back(after.status);
  out.parameters.emplace_back(std::string{how.pending == Pending::shown ? "" : "pending"});
  return out;
}

SqlStatement full_guests_statement(std::vector<std::string> const& users) {
  SqlStatement out{kFullGuests};
  out.parameters.assign(users.begin(), users.end());
  out.parameters.resize(kMostInvitedAtOnce);
  return out;
}

std::vector<std::string> to_texts(store::SqlResult const& found) {
  std::vector<std::string> out;
  for (std::size_t row = 0; row < found.size(); ++row)
    out.push_back(found.text(row, 0));
  return out;
}

}  // namespace

SqlStatement add_event(UserId const& owner, Event const& event, std::int64_t now_ms) {
  return with_event(kAdd, owner, event, now_ms).touching(1);
}

SqlStatement replace_event(UserId const& owner, Event const& event, std::int64_t now_ms) {
  auto out = with_event(kReplace, owner, event, now_ms);
  out.parameters.emplace_back(event.revision);
  return std::move(out).touching(1);
}

SqlStatement remove_event(UserId const& owner, std::string id) {
  return store::statement(kRemoveEvent, std::move(id), owner.text).touching(1);
}

SqlStatement remove_unchanged(UserId const& owner, Event const& event) {
  return store::statement(kRemoveUnchanged, event.id, owner.text, event.revision).touching(1);
}

SqlStatement add_invite(UserId const& owner, std::string event_id, Guest const& guest, std::int64_t now_ms) {
  return store::statement(kAddInvite, guest.invite_id, guest.user_id, now_ms, std::move(event_id), owner.text)
      .touching(1);
}

SqlStatement copy_guests(UserId const& owner, std::string from_event_id, std::string to_event_id,
                         std::int64_t now_ms) {
  return store::statement(kCopyGuests, owner.text, std::move(from_event_id), std::move(to_event_id), now_ms);
}

SqlStatement invite_again(UserId const& owner, std::string invite_id, std::int64_t now_ms) {
  return store::statement(kInviteAgain, std::move(invite_id), owner.text, now_ms).touching(1);
}

SqlStatement answer_invite(UserId const& guest, std::string invite_id, std::string status,
                           std::int64_t now_ms) {
  return store::statement(kAnswer, std::move(invite_id), guest.text, std::move(status), now_ms).touching(1);
}

Async<std::vector<Event>> Repository::overlapping(UserId user, Window window, std::size_t limit,
                                                  Reading how) {
  auto const found = co_await sql_->read(overlapping_statement(user, window, limit, how));
  if (!found) co_return found.error();
  co_return to_events(*found);
}

Async<std::vector<Event>> Repository::own_series(UserId user, Window window, Reading how, SeriesPlace after,
                                                 std::size_t limit) {
  auto const found = co_await sql_->read(series_statement(kOwnSeries, user, window, how, after, limit));
  if (!found) co_return found.error();
  co_return to_events(*found);
}

Async<std::vector<Event>> Repository::invited_series(UserId user, Window window, Reading how,
                                                     SeriesPlace after, std::size_t limit) {
  auto const found = co_await sql_->read(invited_series_statement(user, window, how, after, limit));
  if (!found) co_return found.error();
  co_return to_events(*found);
}

Async<std::int64_t> Repository::count_series(UserId user) {
  auto const found = co_await sql_->read(store::statement(kCountSeries, user.text));
  if (!found) co_return found.error();
  co_return found->integer(0, 0);
}

Async<std::optional<Event>> Repository::find(UserId user, std::string id) {
  auto const found = co_await sql_->read(store::statement(kFindEvent, user.text, std::move(id)));
  if (!found) co_return found.error();
  co_return to_one(*found);
}

Async<std::vector<Guest>> Repository::guests(std::string event_id) {
  auto const found = co_await sql_->read(store::statement(kGuests, std::move(event_id)));
  if (!found) co_return found.error();
  co_return to_guests(*found);
}

Async<std::vector<std::string>> Repository::full_guests(std::vector<std::string> users) {
  auto const found = co_await sql_->read(full_guests_statement(users));
  if (!found) co_return found.error();
  co_return to_texts(*found);
}

Async<std::vector<Event>> Repository::invites(UserId user, std::string status, std::size_t limit,
                                              std::int64_t description) {
  auto const found = co_await sql_->read(store::statement(kInvites, user.text, std::move(status),
                                                          static_cast<std::int64_t>(limit), description));
  if (!found) co_return found.error();
  co_return to_events(*found);
}

Async<std::optional<Event>> Repository::find_invite(UserId user, std::string invite_id) {
  auto const found = co_await sql_->read(store::statement(kFindInvite, user.text, std::move(invite_id)));
  if (!found) co_return found.error();
  co_return to_one(*found);
}

}  // namespace runnel::modules::calendar
