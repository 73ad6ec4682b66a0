#pragma once

#include <cstddef>
#include <vector>

#include "runnel/modules/calendar/repository.h"
#include "runnel/modules/method.h"

namespace runnel::modules::calendar {

// calendar.read shows at most this many events. A list is never shortened.
inline constexpr std::size_t kMostEvents = 200;

// The codes of the failures of calendar.read, besides kInvalidInput.
inline constexpr char kNotFound[] = "NOT_FOUND";  // Also for another user's event.
inline constexpr char kTooManyResults[] = "TOO_MANY_RESULTS";

// calendar.create: {"event_id","outcome":"created"}; its effect is the statement that adds the event.
//
// calendar.read: {"items":[{"event_id","title","start_at","end_at","timezone","location"?,"description"?}…],
// "count"} of the caller's own events, by start and then by id. Instants are in UTC, with milliseconds.
std::vector<Method> calendar_methods(Repository repository);

}  // namespace runnel::modules::calendar
