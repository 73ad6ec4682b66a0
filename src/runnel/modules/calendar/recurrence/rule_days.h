#pragma once

#include <cstdint>
#include <vector>

#include "runnel/modules/calendar/recurrence/rule.h"

// The days of a rule, without its COUNT and UNTIL. A search looks at a bounded number of days, whatever the
// rule: one that matches rarely or never cannot hold a core.
namespace runnel::modules::calendar {

// The number of days since 1 January 1970.
using Day = std::int32_t;

// How many more days a search may look at. Each step from one period to the next counts, too.
struct Effort {
  std::int64_t left = 0;
};

class RuleDays {
 public:
  // The rule of a series whose first day is `start`, which says what the rule itself leaves open.
  RuleDays(Rule const& rule, Day start);

  // The days of the rule from `first` on and before `end`, none before the start, ascending; at most `most`.
  // They are incomplete if the effort is used up then.
  [[nodiscard]] std::vector<Day> between(Day first, Day end, std::size_t most, Effort& effort) const;

 private:
  // A period of the rule, such as a month: its days are from `first` to before `end`.
  struct Period {
    Day first = 0;
    Day end = 0;
  };
  struct Date;

  void fill_in_from_start();
  [[nodiscard]] std::int64_t period_of(Day day) const;
  [[nodiscard]] Period period(std::int64_t number) const;
  [[nodiscard]] bool matches(Date const& date) const;
  [[nodiscard]] bool matches_week(Date const& date) const;
  [[nodiscard]] bool matches_day_of_week(Date const& date) const;
  void add_days(Period period, Effort& effort, std::vector<Day>& out) const;
  void choose_positions(std::vector<Day>& days) const;

  // Complete: what the rule leaves open is filled in. The same days are found with fewer steps in months than
  // in days or weeks, so wherever there is no difference the periods are months.
  Rule rule_;
  Day start_;
  bool never_ = false;
};

}  // namespace runnel::modules::calendar
