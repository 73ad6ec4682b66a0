#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runnel/modules/calendar/repository.h"
#include "runnel/modules/method.h"

// The occurrences of an event that repeats.
//
// They are at the wall time of the first one in the event's time zone, so that a meeting at nine stays at
// nine when the clocks change. A wall time that a change of clocks skips is the first moment after the gap,
// and of one that comes twice it is the first. Events of whole days have dates and no zone. Each occurrence
// lasts as long as the first, in milliseconds.
//
// The start of the event is the first occurrence even if the rule does not name it, and COUNT counts it (RFC
// 5545). An occurrence is named by its start. None ends after the year 9999.
namespace runnel::modules::calendar {

// At most so many occurrences of a series do not take place.
inline constexpr std::size_t kMostExdates = 500;

// Checks `rrule` and brings it into its normal form, sorts `exdates`, and sets `series_end_at`. To be called
// whenever a rule, a start, a length or a zone is new; for an event without a rule, too. A rule is refused if
// the event starts after its UNTIL, if it has no day within about 130 years, or if its COUNT needs more than
// about 500. The search is bounded (Effort): it takes at most about 5 ms, and so does each of the searches
// below. Whoever does several of them lets others run between them (series_input.h).
std::optional<MethodFailure> complete_series(Event& event);

// Occurrences of a complete series, without those that do not take place.
struct Occurrences {
  std::vector<std::int64_t> starts;  // Ascending.
  std::int64_t steps = 0;            // How much there was to look at; ten thousand steps take 0.1 to 0.2 ms.
};

// Those that have a part in the span, which has at most two years or is cut to them; at most `most`.
inline constexpr std::int64_t kLongestReadMs = 2 * kLongestSpanMs;
Occurrences occurrences_in(Event const& series, Span span, std::size_t most);

// The first ones from an instant on that start at most a year after it.
Occurrences next_occurrences(Event const& series, std::int64_t from, std::size_t most);

// Whether an occurrence starts then and takes place.
bool has_occurrence_at(Event const& series, std::int64_t start_at);

// Whether any occurrence takes place. Also true if the search ends before that is known.
bool may_have_occurrences(Event const& series);

// The occurrence as an event: the series with another span.
Event occurrence_of(Event series, std::int64_t start_at);

// Those of `exdates` that are not the start of an occurrence, as far as it is without exceptions.
std::vector<std::int64_t> unknown_exdates(Event const& series);

// Moves the exceptions of a series whose start, zone or kind has changed from `before`: by as much as the
// start moved on the clock on the wall. Those that do not name an occurrence of the new series are dropped.
void move_exdates(Event& series, Event const& before);

}  // namespace runnel::modules::calendar
