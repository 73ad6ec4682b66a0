#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runnel/modules/calendar/recurrence/occurrences.h"
#include "runnel/modules/calendar/repository.h"

namespace runnel::modules::calendar {

// Of a series so many occurrences, those that start first within a year, are compared with other events. Of
// the other events of that year, the first 1,000 are compared, and with a single event the first 50 of its
// span.
inline constexpr std::size_t kMostComparedOccurrences = 50;
inline constexpr std::size_t kMostComparedEvents = 1000;
inline constexpr std::size_t kMostComparedWithOne = 50;

// An event that is compared with the others of a user.
struct Comparison {
  UserId user;
  Event event;
  std::string except_id;  // The event with this id does not count.
  std::size_t most = 0;   // At most so many are found.
  SeriesList series{};    // The user's series; they are loaded if it is null.
};

// The user's events at a time of day that overlap the event, with the occurrence that does so first, and each
// event once. Invitations count if the user has accepted them.
store::Async<std::vector<Event>> find_conflicts(Repository repository, Comparison comparison);

}  // namespace runnel::modules::calendar
