#pragma once

#include <cstddef>

#include "runnel/modules/calendar/repository.h"
#include "runnel/store/sql.h"

// How events stand in the results of queries.

// The columns of an event, as to_event() reads them, without those of an invitation.
#define RUNNEL_EVENT_COLUMNS RUNNEL_EVENT_COLUMNS_WITH("e.description", "e.exdates")

// The same with these expressions as the description and the exceptions.
#define RUNNEL_EVENT_COLUMNS_WITH(DESCRIPTION, EXDATES)                            \
  "e.id, e.title, e.start_at, e.end_at, e.timezone, e.location, " DESCRIPTION      \
  ", e.all_day, e.reminders, e.owner_id, e.revision, e.created_at, e.updated_at, " \
  "e.rrule, " EXDATES ", e.series_end_at"

namespace runnel::modules::calendar {

// The event in a row that begins with RUNNEL_EVENT_COLUMNS and the id and status of the reader's invitation.
Event to_event(store::SqlResult const& found, std::size_t row);

// How many columns that are.
inline constexpr std::size_t kEventColumns = 18;

}  // namespace runnel::modules::calendar
