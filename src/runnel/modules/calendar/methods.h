#pragma once

#include <cstddef>
#include <vector>

#include "runnel/modules/calendar/repository.h"
#include "runnel/modules/method.h"

namespace runnel::modules::calendar {

// calendar.read shows at most this many events. A list of events is never shortened; of invitations the first
// are shown, and "more" says whether there are others.
inline constexpr std::size_t kMostEvents = 200;

// The code of a failure of calendar.read.
inline constexpr char kTooManyResults[] = "TOO_MANY_RESULTS";

// calendar.create, update, delete, share, accept_invite and reject_invite return what actions.h says; the
// first three also take a batch (batch.h).
//
// calendar.read: {"items":[…],"count"} of the events that are the user's own or to which the user is invited
// (event_json.h), by start and then by id. One event of the user's own also has "guests" if there are any.
std::vector<Method> calendar_methods(Repository repository);

}  // namespace runnel::modules::calendar
