#include "runnel/modules/calendar/recurrence/recurrence.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "runnel/core/time/zone.h"
#include "runnel/modules/calendar/recurrence/rule_days.h"

namespace runnel::modules::calendar {

namespace {

// For checking a rule, which takes up to 3 ms, and for reading a year of a series: whole years are looked at
// around it, so that reading one looks at up to three.
constexpr std::int64_t kCheckEffort = 200'000;
constexpr std::int64_t kFirstDayEffort = 50'000;
constexpr std::int64_t kReadEffort = 8'000;
constexpr Day kLastDay = static_cast<Day>(kLastMs / kDayMs);
// A zone is at most so far from UTC, with a day of room for gaps.
constexpr Day kMargin = 2;
constexpr std::size_t kMostInMargins = 5;

Day day_at(std::int64_t local_ms) {
  return static_cast<Day>((local_ms >= 0 ? local_ms : local_ms - kDayMs + 1) / kDayMs);
}

std::int64_t length_of(Event const& event) {
  return event.span.end_at - event.span.start_at;
}

// The clocks by which an event happens. Events of whole days happen as if in UTC.
class Clocks {
 public:
  explicit Clocks(Event const& event) : zone_{event.all_day ? std::nullopt : Zone::find(event.timezone)} {}

  [[nodiscard]] std::int64_t to_local(std::int64_t ms) const { return zone_ ? zone_->to_local(ms) : ms; }
  [[nodiscard]] std::int64_t to_instant(std::int64_t local_ms) const {
    return zone_ ? zone_->to_instant(local_ms) : local_ms;
  }

 private:
  std::optional<Zone> zone_;
};

// A series whose rule has been read.
class Series {
 public:
  Series(Event const& event, Rule const& rule)
      : clocks_{event},
        local_start_{clocks_.to_local(event.span.start_at)},
        start_at_{event.span.start_at},
        first_day_{day_at(local_start_)},
        days_{rule, first_day_} {}

  // The starts on the days from `first` on and before `end`; the first occurrence is among them.
  [[nodiscard]] std::vector<std::int64_t> starts(Day first, Day end, std::size_t most, Effort& effort) const {
    std::vector<std::int64_t> out;
    // A wall time that is skipped for a whole day falls on that of the next one.
    auto const days = days_.between(first, end, most + 2, effort);
    bool const has_start = first <= first_day_ && first_day_ < end;
    if (has_start) out.push_back(start_at_);
    for (auto const day : days) {
      auto const at = start_on(day);
      if (out.size() < most && (out.empty() || at > out.back())) out.push_back(at);
    }
    return out;
  }

  // The days from `first` on and before `end` that the rule names.
  [[nodiscard]] std::vector<Day> days(Day first, Day end, Effort& effort) const {
    return days_.between(first, end, static_cast<std::size_t>(std::max(end - first, 0)), effort);
  }

  // Whether an occurrence starts then, if the days are those that the rule names around it.
  [[nodiscard]] bool starts_at(std::int64_t ms, std::vector<Day> const& days) const {
    if (ms == start_at_) return true;
    auto const day = day_of(ms);
    // A wall time that is skipped is that of a day before.
    for (auto at = std::lower_bound(days.begin(), days.end(), day - kMargin); at != days.end(); ++at) {
      if (*at > day) return false;
      if (start_on(*at) == ms) return true;
    }
    return false;
  }

  // The start of the first day that the rule names, if it is found.
  [[nodiscard]] std::optional<std::int64_t> first_named(Effort& effort) const {
    auto const days = days_.between(first_day_, kLastDay + 1, 1, effort);
    if (days.empty()) return std::nullopt;
    return start_on(days.front());
  }

  [[nodiscard]] Day day_of(std::int64_t ms) const { return day_at(clocks_.to_local(ms)); }
  [[nodiscard]] Day first_day() const { return first_day_; }

 private:
  // The very first occurrence may be the second one of a wall time that comes twice.
  [[nodiscard]] std::int64_t start_on(Day day) const {
    if (day == first_day_) return start_at_;
    return clocks_.to_instant(local_start_ + std::int64_t{day - first_day_} * kDayMs);
  }

  Clocks clocks_;
  std::int64_t local_start_;
  std::int64_t start_at_;
  Day first_day_;
  RuleDays days_;
};

MethodFailure wrong_rule(std::string const& why) {
  return MethodFailure{kInvalidInput, "rrule " + why};
}

// The rule of a complete series, which can be read.
Series series_of(Event const& event) {
  auto const read = parse_rule(event.rrule, event.all_day);
  auto const* const rule = std::get_if<Rule>(&read);
  return Series{event, rule == nullptr ? Rule{} : *rule};
}

// Sets the end of a series with a COUNT.
std::optional<MethodFailure> count_to_end(Event& event, Series const& series, int count) {
  Effort effort{kCheckEffort};
  auto const most = static_cast<std::size_t>(count);
  auto const starts = series.starts(series.first_day(), kLastDay + 1, most, effort);
  if (effort.left <= 0 && starts.size() < most)
    return wrong_rule("has occurrences that are too far apart for its COUNT; use a smaller one");
  auto const fits = [&](std::int64_t start) { return start + length_of(event) <= kLastMs; };
  auto const last = std::find_if(starts.rbegin(), starts.rend(), fits);
  event.series_end_at = (last == starts.rend() ? event.span.start_at : *last) + length_of(event);
  return std::nullopt;
}

std::optional<MethodFailure> set_end(Event& event, Rule const& rule) {
  Series const series{event, rule};
  if (rule.until && rule.until->ms < event.span.start_at)
    return wrong_rule("must have an UNTIL that is not before the start of the event");
  Effort effort{kFirstDayEffort};
  auto const first = series.first_named(effort);
  if (!first || (rule.until && *first > rule.until->ms) || *first + length_of(event) > kLastMs)
    return wrong_rule("must name a day on or after the start of the event; this one names none");
  if (rule.count > 0) return count_to_end(event, series, rule.count);
  event.series_end_at = rule.until ? std::min(rule.until->ms + length_of(event), kLastMs) : kLastMs;
  return std::nullopt;
}

bool is_exception(Event const& series, std::int64_t start) {
  return std::binary_search(series.exdates.begin(), series.exdates.end(), start);
}

struct DaySpan {
  Day first = 0;
  Day end = 0;
};

// The days of the series that may have starts between these instants.
DaySpan days_around(Event const& event, Series const& series, Span between) {
  auto const first = series.day_of(std::max<std::int64_t>(between.start_at, event.span.start_at)) - kMargin;
  auto const end = series.day_of(std::clamp<std::int64_t>(between.end_at, 0, kLastMs)) + kMargin;
  return {first, std::min(end, kLastDay + 1)};
}

// All starts from `first` on and before `end`, also of those that do not take place.
std::vector<std::int64_t> all_starts(Event const& event, Series const& series, Span between, std::size_t most,
                                     Effort& effort) {
  auto const [first, end] = days_around(event, series, between);
  auto starts = series.starts(first, end, most, effort);
  std::erase_if(starts, [&](std::int64_t start) {
    return start < between.start_at || start >= between.end_at ||
           start + length_of(event) > event.series_end_at;
  });
  return starts;
}

Occurrences taking_place(Event const& event, Span between, std::size_t most) {
  auto const series = series_of(event);
  Effort effort{kReadEffort};
  // A few are only found in the margin, and exceptions are found before they are left out.
  auto const most_found = most + event.exdates.size() + kMostInMargins;
  Occurrences out;
  out.starts = all_starts(event, series, between, most_found, effort);
  // To find an instant in a zone takes about as long as ten days without one.
  out.steps = kReadEffort - effort.left + 10 * static_cast<std::int64_t>(out.starts.size());
  std::erase_if(out.starts, [&](std::int64_t start) { return is_exception(event, start); });
  if (out.starts.size() > most) out.starts.resize(most);
  return out;
}

}  // namespace

std::optional<MethodFailure> complete_series(Event& event) {
  if (event.rrule.empty()) {
    event.exdates.clear();
    event.series_end_at = 0;
    return std::nullopt;
  }
  auto read = parse_rule(event.rrule, event.all_day);
  if (auto* const failure = std::get_if<MethodFailure>(&read)) return std::move(*failure);
  auto const& rule = std::get<Rule>(read);
  if (auto failure = set_end(event, rule)) return failure;
  event.rrule = to_text(rule);
  auto& exdates = event.exdates;
  std::sort(exdates.begin(), exdates.end());
  exdates.erase(std::unique(exdates.begin(), exdates.end()), exdates.end());
  return std::nullopt;
}

Occurrences occurrences_in(Event const& series, Span span, std::size_t most) {
  auto const end = std::min(span.end_at, span.start_at + kLongestReadMs);
  bool const is_apart = series.span.start_at >= end || series.series_end_at <= span.start_at;
  if (end <= span.start_at || is_apart) return {};
  return taking_place(series, {span.start_at - length_of(series) + 1, end}, most);
}

Occurrences next_occurrences(Event const& series, std::int64_t from, std::size_t most) {
  return taking_place(series, {from, from + kLongestSpanMs}, most);
}

bool has_occurrence_at(Event const& series, std::int64_t start_at) {
  return !taking_place(series, {start_at, start_at + 1}, 1).starts.empty();
}

bool may_have_occurrences(Event const& event) {
  if (event.exdates.empty()) return true;
  auto const series = series_of(event);
  Effort effort{kCheckEffort};
  auto const starts = series.starts(series.first_day(), kLastDay + 1, event.exdates.size() + 1, effort);
  if (effort.left <= 0) return true;
  return std::any_of(starts.begin(), starts.end(), [&](std::int64_t start) {
    return start + length_of(event) <= event.series_end_at && !is_exception(event, start);
  });
}

Event occurrence_of(Event series, std::int64_t start_at) {
  series.span = {start_at, start_at + length_of(series)};
  series.is_occurrence = true;
  return series;
}

std::vector<std::int64_t> unknown_exdates(Event const& event) {
  auto const series = series_of(event);
  std::vector<std::int64_t> unknown;
  Effort effort{kCheckEffort};
  // Exceptions within a year are looked for together.
  for (auto first = event.exdates.begin(); first != event.exdates.end();) {
    auto const last = std::upper_bound(first, event.exdates.end(), *first + 365 * kDayMs);
    auto const [first_day, end_day] = days_around(event, series, {*first, *std::prev(last) + 1});
    auto const days = series.days(first_day, end_day, effort);
    std::copy_if(first, last, std::back_inserter(unknown), [&](std::int64_t exdate) {
      bool const fits = exdate >= event.span.start_at && exdate + length_of(event) <= event.series_end_at;
      return !fits || !series.starts_at(exdate, days);
    });
    first = last;
  }
  return unknown;
}

void move_exdates(Event& series, Event const& before) {
  Clocks const old_clocks{before};
  Clocks const clocks{series};
  auto const old_start = old_clocks.to_local(before.span.start_at);
  auto const moved = clocks.to_local(series.span.start_at) - old_start;
  for (auto& exdate : series.exdates) {
    if (exdate == before.span.start_at) {
      exdate = series.span.start_at;
      continue;
    }
    // The wall time of an occurrence that a change of clocks skipped is later than that of the others.
    auto const days = std::int64_t{day_at(old_clocks.to_local(exdate)) - day_at(old_start)};
    exdate = clocks.to_instant(old_start + days * kDayMs + moved);
  }
  std::sort(series.exdates.begin(), series.exdates.end());
  auto const unknown = unknown_exdates(series);
  std::vector<std::int64_t> kept;
  std::set_difference(series.exdates.begin(), series.exdates.end(), unknown.begin(), unknown.end(),
                      std::back_inserter(kept));
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  series.exdates = std::move(kept);
}

}  // namespace runnel::modules::calendar
