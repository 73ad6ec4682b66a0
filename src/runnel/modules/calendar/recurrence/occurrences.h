#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runnel/modules/calendar/repository.h"

// What a calendar shows: single events and the occurrences of series together.
namespace runnel::modules::calendar {

// Which events are found if there are more than the limit.
enum class Beyond : bool {
  any,         // Some of them, for a caller that then refuses to show a part. The search ends early.
  first_ones,  // Those that start first.
};

// Series that were loaded before.
using SeriesList = std::shared_ptr<std::vector<Event> const>;

struct Search {
  UserId user;
  Window window;
  std::size_t limit = 0;
  Reading how{};
  Beyond beyond = Beyond::any;
  std::string except_id{};  // An event or a series that is left out.
  SeriesList series{};      // Expanded instead of what is stored, if it is not null.
};

// The events and occurrences that have a part in the window, by start and then by id; at most `limit`. See
// Repository for which events are the user's; of others' series at most kMostSeries are looked at. Series are
// read in pages, of which only those with an occurrence in the window are kept, without their exceptions.
// Others get their turn on the core while many series are expanded.
store::Async<std::vector<Event>> events_in(Repository repository, Search search);

// All series of the user that the search may need, without their descriptions.
store::Async<SeriesList> load_series(Repository repository, UserId user, Pending pending);

// Lets others have their turn on the core.
boost::asio::awaitable<void> let_others_run();

}  // namespace runnel::modules::calendar
