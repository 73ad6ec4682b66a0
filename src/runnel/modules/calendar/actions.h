#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runnel/modules/batch.h"
#include "runnel/modules/calendar/recurrence/occurrences.h"
#include "runnel/modules/calendar/repository.h"

// What can be done with a calendar. The methods for models and the routes for apps use the same actions: an
// action checks what is asked, and returns the statements of its effect, which the caller writes.
namespace runnel::modules::calendar {

// The codes of failures, besides kInvalidInput.
inline constexpr char kNotFound[] = "NOT_FOUND";  // Also for another user's event.
inline constexpr char kNoOccurrence[] = "NO_SUCH_OCCURRENCE";
inline constexpr char kNotOrganizer[] = "NOT_ORGANIZER";
inline constexpr char kTooManyGuests[] = "TOO_MANY_GUESTS";
inline constexpr char kNoMoreInvites[] = "NO_MORE_INVITES";
inline constexpr char kTooManySeries[] = "TOO_MANY_SERIES";
inline constexpr char kTooManyExceptions[] = "TOO_MANY_EXCEPTIONS";

// At most so many events that overlap an event are told of, and in a batch for each item.
inline constexpr std::size_t kMostConflicts = 5;
inline constexpr std::size_t kMostConflictsInBatch = 1;

// What the items of a batch have in common.
struct Batch {
  SeriesList series;            // The user's, for comparing the items with them.
  std::int64_t new_series = 0;  // How many more there are when the items so far are written. Can be negative.
};

// What a user asks for. The input is valid by its schema.
struct Action {
  UserId user;
  std::string timezone;  // The user's.
  boost::json::object input;
  std::int64_t now_ms = 0;
  std::shared_ptr<Batch> batch{};  // Null if the action is not one of a batch.
};

// Every result also has the event's title and span (event_json.h) as far as the input does not say them, so
// that a user can be told which event it is; and the "rrule" of a series, if the action is about all of it.

// {"event_id","outcome":"created","conflicts"?:[{"event_id","title","start_at","end_at"}…]}. The conflicts
// are the user's events at a time of day that overlap the new one, as they are before this call.
store::Async<ItemAnswer> create_event(Repository repository, Action action);

// {"event_id","outcome":"updated","conflicts"?}. Only the user who made an event can change, delete or share
// it. With `occurrence_start` that occurrence of a series becomes an event of its own with the changes, which
// the same guests see: the result has its new "event_id" and the "series_id".
store::Async<ItemAnswer> update_event(Repository repository, Action action);

// {"event_id","outcome":"deleted"}. With `occurrence_start` only that occurrence of a series is deleted, and
// the series with its last one.
store::Async<ItemAnswer> delete_event(Repository repository, Action action);

// {"items":[{"user_id","invite_id","outcome":"invited"|"already_invited"}…],"count"}. Who has said no is
// invited again. Nothing checks that a user exists, so that nobody can find out who is a user. If one of the
// users has kMostPending invitations already, nobody is invited.
store::Async<ItemAnswer> share_event(Repository repository, Action action);

// {"event_id","outcome":"accepted"|"rejected"}. An answer can be changed.
store::Async<ItemAnswer> accept_invite(Repository repository, Action action);
store::Async<ItemAnswer> reject_invite(Repository repository, Action action);

}  // namespace runnel::modules::calendar
