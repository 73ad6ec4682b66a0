#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/ids.h"
#include "runnel/store/sql.h"

namespace runnel::modules::calendar {

inline constexpr std::int64_t kMinuteMs = std::int64_t{60} * 1000;
inline constexpr std::int64_t kHourMs = 60 * kMinuteMs;
inline constexpr std::int64_t kDayMs = 24 * kHourMs;
// No event lasts longer than 366 days.
inline constexpr std::int64_t kLongestSpanMs = 366 * kDayMs;
// The last millisecond of the year 9999. No event ends later, and none starts before 1970.
inline constexpr std::int64_t kLastMs = 253'402'300'799'999;
// A user has at most so many events that repeat. Of other users' that the user is invited to, at most so many
// are looked at.
inline constexpr std::int64_t kMostSeries = 500;
// At most so many users are invited to an event, and so many at once.
inline constexpr std::size_t kMostGuests = 200;
inline constexpr std::size_t kMostInvitedAtOnce = 50;
// Of a user, at most so many invitations are pending, so that nobody can fill a calendar that is not theirs.
inline constexpr std::size_t kMostPending = 1000;

// A half-open span of time in UNIX milliseconds: `end_at` is not part of it.
struct Span {
  std::int64_t start_at = 0;
  std::int64_t end_at = 0;
};

// What a reader of a calendar looks at: a span of time, and the dates that it has in the reader's time zone,
// each as if it were in UTC. Events of whole days are compared with the dates.
struct Window {
  Span time;
  Span dates;
};

struct Event {
  std::string id;
  std::string title;
  Span span;  // For an event of whole days: from midnight to midnight in UTC.
  bool all_day = false;
  std::string timezone;     // A name in the IANA database.
  std::string location;     // Empty if there is none.
  std::string description;  // Empty if there is none.
  std::string reminders;    // A JSON list of minutes. Empty if there are none.
  // How the event repeats: the value of an RRULE (RFC 5545) in its normal form. Empty if it does not. An
  // event that repeats is a series, and its span is that of its first occurrence.
  std::string rrule;
  // The starts of the occurrences that do not take place, ascending: like span.start_at.
  std::vector<std::int64_t> exdates;
  std::int64_t series_end_at = 0;  // No occurrence ends later; kLastMs without an end, 0 if not a series.
  bool is_occurrence = false;      // One of a series, with a span of its own.
  std::string owner_id;            // Who made it. Set by the repository, and so are the following.
  std::int64_t revision = 1;       // Grows with each change.
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
  std::string invite_id;      // The reader's invitation. Empty if the event is the reader's own.
  std::string invite_status;  // "pending", "accepted" or "rejected".
};

// Somebody who is invited to an event.
struct Guest {
  std::string invite_id;
  std::string user_id;
  std::string status;
};

// Adds the event to the owner's calendar. The statement can be repeated: an event with this id and owner
// stays as it is. The write fails with `conflict` if another user has an event with this id, and with
// `invalid` if the event is not one that the table can hold.
store::SqlStatement add_event(UserId const& owner, Event const& event, std::int64_t now_ms);

// Replaces the owner's event with this id. The write fails with `conflict` if the event is gone or does not
// have the revision `event.revision` any more; the stored one has the next revision.
//
// Both writes also fail with `conflict` if the event becomes one series too many (kMostSeries). On PostgreSQL
// two writes at the same moment do not see each other, so that a user can then have one more for each. A
// series stays one that can be changed.
store::SqlStatement replace_event(UserId const& owner, Event const& event, std::int64_t now_ms);

// Deletes the owner's event and its invitations. The write fails with `conflict` if there is none.
store::SqlStatement remove_event(UserId const& owner, std::string id);
// The same, but the write also fails if the event does not have the revision `event.revision` any more.
store::SqlStatement remove_unchanged(UserId const& owner, Event const& event);

// Invites a user to the owner's event. The write fails with `conflict` if the event is gone, the user is
// invited already, the event has kMostGuests, or the user has kMostPending invitations. Two writes at the
// same moment may both find room, as above.
store::SqlStatement add_invite(UserId const& owner, std::string event_id, Guest const& guest,
                               std::int64_t now_ms);

// Invites the guests of one of the owner's events to another one, except for those who have said no, and
// those who have not answered and have kMostPending invitations. Their answers are the same.
store::SqlStatement copy_guests(UserId const& owner, std::string from_event_id, std::string to_event_id,
                                std::int64_t now_ms);

// Invites a user again who has rejected the invitation. The write fails with `conflict` if that is not so, or
// if the user has kMostPending invitations.
store::SqlStatement invite_again(UserId const& owner, std::string invite_id, std::int64_t now_ms);

// Keeps the guest's answer, "accepted" or "rejected". The write fails with `conflict` if the guest has no
// such invitation.
store::SqlStatement answer_invite(UserId const& guest, std::string invite_id, std::string status,
                                  std::int64_t now_ms);

// Whether invitations are among the events that the user has neither accepted nor rejected.
enum class Pending : bool { shown, left_out };

// The longest description, in characters.
inline constexpr std::int64_t kLongestDescription = 4000;

// What is read of events.
struct Reading {
  Pending pending = Pending::shown;
  std::int64_t description = kLongestDescription;  // Only so many characters of each.
};

// Where a page of series ends: at this one, which is the last of it.
struct SeriesPlace {
  std::string status;  // Of the invitation. Empty for the user's own series.
  std::int64_t end_at = 0;
  std::string id;  // Of the invitation, or of the user's own series.
};

class Repository {
 public:
  explicit Repository(store::Sql& sql) : sql_{&sql} {}

  // The events that do not repeat and have a part in the window, by start and then by id; at most `limit`:
  // the user's own, and those of others to which the user is invited and has not said no. Two spans that only
  // touch have no part in each other, and an empty span has no events. Those that the user has not accepted
  // yet can be left out.
  store::Async<std::vector<Event>> overlapping(UserId user, Window window, std::size_t limit,
                                               Reading how = {});

  // The user's events that repeat and whose occurrences may have a part in the window: between its ends the
  // series has begun and is not over. By their ends and ids, those after a place; at most `limit`.
  store::Async<std::vector<Event>> own_series(UserId user, Window window, Reading how, SeriesPlace after,
                                              std::size_t limit);

  // The same of others to which the user is invited and has not said no; those that the user has accepted
  // come first.
  store::Async<std::vector<Event>> invited_series(UserId user, Window window, Reading how, SeriesPlace after,
                                                  std::size_t limit);

  // How many events of the user repeat.
  store::Async<std::int64_t> count_series(UserId user);

  // Empty if the user has no event with this id and is not invited to one, or has said no.
  store::Async<std::optional<Event>> find(UserId user, std::string id);

  // By user.
  store::Async<std::vector<Guest>> guests(std::string event_id);

  // Those of the users who have kMostPending invitations. At most kMostInvitedAtOnce can be asked for.
  store::Async<std::vector<std::string>> full_guests(std::vector<std::string> users);

  // The events to which the user is invited with this status, by start and then by id; at most `limit`, with
  // so many characters of each description.
  store::Async<std::vector<Event>> invites(UserId user, std::string status, std::size_t limit,
                                           std::int64_t description = kLongestDescription);

  // The event of an invitation of this user. Empty if there is none.
  store::Async<std::optional<Event>> find_invite(UserId user, std::string invite_id);

 private:
  store::Sql* sql_;
};

}  // namespace runnel::modules::calendar
