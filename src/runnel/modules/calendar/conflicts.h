#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runnel/modules/calendar/repository.h"

namespace runnel::modules::calendar {

// Of a series so many occurrences, those that start first within a year, are compared with other events. Of
// the other events of that year, the first 1,000 are compared, and with a single event the first 50 of its
// span.
inline constexpr std::size_t kMostComparedOccurrences = 50;
inline constexpr std::size_t kMostComparedEvents = 1000;
inline constexpr std::size_t kMostComparedWithOne = 50;

// The user's events at a time of day that overlap this one, with the occurrence that does so first; at most
// `most`, and each event once. Invitations count if the user has accepted them. The event with the id
// `except_id` does not count.
store::Async<std::vector<Event>> find_conflicts(Repository repository, UserId user, Event event,
                                                std::string except_id, std::size_t most);

}  // namespace runnel::modules::calendar
