#include "runnel/modules/calendar/recurrence/rule_days.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace runnel::modules::calendar {

namespace {

using std::chrono::local_days;
using std::chrono::year_month_day;

year_month_day to_date(Day day) {
  return year_month_day{local_days{std::chrono::days{day}}};
}

Day to_day(year_month_day const& date) {
  return static_cast<Day>(local_days{date}.time_since_epoch().count());
}

Day new_year(int year) {
  return to_day(std::chrono::year{year} / 1 / 1);
}

// The first day of a month, which is counted from January of the year 0.
Day first_of_month(std::int64_t month) {
  return to_day(std::chrono::year{static_cast<int>(month / 12)} /
                std::chrono::month{static_cast<unsigned>(month % 12) + 1} / 1);
}

// Monday is 0. The first of January 1970 was a Thursday.
int day_of_week(Day day) {
  return static_cast<int>(((day + 3) % kDaysOfWeek + kDaysOfWeek) % kDaysOfWeek);
}

Day week_begins(Day day, int week_start) {
  return day - (day_of_week(day) - week_start + kDaysOfWeek) % kDaysOfWeek;
}

// The first day of the year's week 1, which is the first week with at least four days in the year.
Day first_week(int year, int week_start) {
  return week_begins(new_year(year) + 3, week_start);
}

}  // namespace

// A day with what rules ask about it.
struct RuleDays::Date {
  Day day = 0;
  int month = 0;
  int day_of_month = 0;
  int days_of_month = 0;
  int day_of_year = 0;
  int days_of_year = 0;
};

RuleDays::RuleDays(Rule const& rule, Day start) : rule_{rule}, start_{start} {
  fill_in_from_start();
  if (rule_.frequency == Frequency::daily && !rule_.by_position.empty()) {
    never_ = !rule_.by_position.has(1, 1);
    rule_.by_position = {};
  }
  bool const has_short_periods = rule_.frequency == Frequency::daily || rule_.frequency == Frequency::weekly;
  if (!has_short_periods || rule_.interval > 1 || !rule_.by_position.empty()) return;
  rule_.frequency = Frequency::monthly;
  if (rule_.by_day.none()) rule_.by_day.set();
}

void RuleDays::fill_in_from_start() {
  auto const date = to_date(start_);
  bool const no_day = rule_.by_day.none() && !rule_.has_nth_day;
  bool const open = no_day && rule_.by_month_day.empty() && rule_.by_year_day.empty();
  if (!open || rule_.frequency == Frequency::daily) return;
  if (rule_.frequency == Frequency::weekly || !rule_.by_week.empty()) {
    rule_.by_day.set(static_cast<std::size_t>(day_of_week(start_)));
    return;
  }
  rule_.by_month_day.add(static_cast<int>(unsigned{date.day()}));
  if (rule_.frequency == Frequency::yearly && rule_.by_month.none())
    rule_.by_month.set(unsigned{date.month()});
}

// Periods are counted without regard to the interval.
std::int64_t RuleDays::period_of(Day day) const {
  switch (rule_.frequency) {
    case Frequency::daily:
      return day;
    case Frequency::weekly:
      return (week_begins(day, rule_.week_start) - week_begins(start_, rule_.week_start)) / kDaysOfWeek;
    case Frequency::monthly: {
      auto const date = to_date(day);
      return std::int64_t{int{date.year()}} * 12 + unsigned{date.month()} - 1;
    }
    case Frequency::yearly:
      break;
  }
  return int{to_date(day).year()};
}

RuleDays::Period RuleDays::period(std::int64_t number) const {
  switch (rule_.frequency) {
    case Frequency::daily:
      return {static_cast<Day>(number), static_cast<Day>(number + 1)};
    case Frequency::weekly: {
      auto const first = static_cast<Day>(week_begins(start_, rule_.week_start) + number * kDaysOfWeek);
      return {first, first + kDaysOfWeek};
    }
    case Frequency::monthly:
      return {first_of_month(number), first_of_month(number + 1)};
    case Frequency::yearly:
      break;
  }
  return {new_year(static_cast<int>(number)), new_year(static_cast<int>(number) + 1)};
}

bool RuleDays::matches_week(Date const& date) const {
  // The week belongs to the year of its fourth day.
  auto const monday = week_begins(date.day, rule_.week_start);
  auto const year = int{to_date(monday + 3).year()};
  auto const first = first_week(year, rule_.week_start);
  auto const weeks = (first_week(year + 1, rule_.week_start) - first) / kDaysOfWeek;
  return rule_.by_week.has((monday - first) / kDaysOfWeek + 1, weeks);
}

bool RuleDays::matches_day_of_week(Date const& date) const {
  auto const day = static_cast<std::size_t>(day_of_week(date.day));
  if (rule_.by_day.test(day)) return true;
  if (!rule_.has_nth_day) return false;
  auto const& numbers = rule_.by_nth_day.at(day);
  bool const in_month = rule_.frequency == Frequency::monthly || rule_.by_month.any();
  auto const index = in_month ? date.day_of_month : date.day_of_year;
  auto const size = in_month ? date.days_of_month : date.days_of_year;
  auto const nth = (index - 1) / kDaysOfWeek + 1;
  auto const after = (size - index) / kDaysOfWeek;
  return numbers.has(nth, nth + after);
}

bool RuleDays::matches(Date const& date) const {
  if (rule_.by_month.any() && !rule_.by_month.test(static_cast<std::size_t>(date.month))) return false;
  if (!rule_.by_month_day.empty() && !rule_.by_month_day.has(date.day_of_month, date.days_of_month))
    return false;
  if (!rule_.by_year_day.empty() && !rule_.by_year_day.has(date.day_of_year, date.days_of_year)) return false;
  if ((rule_.by_day.any() || rule_.has_nth_day) && !matches_day_of_week(date)) return false;
  return rule_.by_week.empty() || matches_week(date);
}

// Goes from month to month, because within a month the date need not be computed for each day.
void RuleDays::add_days(Period period, Effort& effort, std::vector<Day>& out) const {
  for (auto day = period.first; day < period.end && effort.left > 0;) {
    auto const date = to_date(day);
    auto const month = std::int64_t{int{date.year()}} * 12 + unsigned{date.month()} - 1;
    auto const month_begins = first_of_month(month);
    auto const month_ends = first_of_month(month + 1);
    auto const year_begins = new_year(int{date.year()});
    Date at{day, static_cast<int>(unsigned{date.month()}),    0, month_ends - month_begins,
            0,   new_year(int{date.year()} + 1) - year_begins};
    --effort.left;
    auto const end = std::min(period.end, month_ends);
    bool const skipped = rule_.by_month.any() && !rule_.by_month.test(static_cast<std::size_t>(at.month));
    for (; !skipped && day < end && effort.left > 0; ++day, --effort.left) {
      at.day = day;
      at.day_of_month = day - month_begins + 1;
      at.day_of_year = day - year_begins + 1;
      if (matches(at)) out.push_back(day);
    }
    if (skipped) day = end;
  }
}

void RuleDays::choose_positions(std::vector<Day>& days) const {
  if (rule_.by_position.empty()) return;
  auto const size = static_cast<int>(days.size());
  std::vector<Day> chosen;
  for (int i = 1; i <= size; ++i) {
    if (rule_.by_position.has(i, size)) chosen.push_back(days.at(static_cast<std::size_t>(i) - 1));
  }
  days = std::move(chosen);
}

std::vector<Day> RuleDays::between(Day first, Day end, std::size_t most, Effort& effort) const {
  first = std::max(first, start_);
  std::vector<Day> out;
  if (never_) return out;
  std::vector<Day> days;
  auto const base = period_of(start_);
  auto const missing = (period_of(first) - base) % rule_.interval;
  auto number = period_of(first) - missing;
  for (; effort.left > 0 && out.size() < most; number += rule_.interval) {
    auto const at = period(number);
    if (at.first >= end) break;
    --effort.left;
    days.clear();
    add_days(at, effort, days);
    if (effort.left <= 0) break;  // The period is incomplete, and so are its positions.
    choose_positions(days);
    for (auto const day : days) {
      if (day >= first && day < end && out.size() < most) out.push_back(day);
    }
  }
  return out;
}

}  // namespace runnel::modules::calendar
