#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "runnel/modules/method.h"

// A rule of recurrence: the value of an RRULE of RFC 5545, as far as an event can have one. The smallest unit
// is the day, because an event is at one time of day.
namespace runnel::modules::calendar {

enum class Frequency : std::uint8_t { daily, weekly, monthly, yearly };

// Numbers that count from the beginning of a period, and numbers that count from its end.
template <std::size_t kSize>
struct Positions {
  std::bitset<kSize> from_start;
  std::bitset<kSize> from_end;

  [[nodiscard]] bool empty() const { return from_start.none() && from_end.none(); }
  void add(int number) {
    auto& side = number < 0 ? from_end : from_start;
    side.set(static_cast<std::size_t>(number < 0 ? -number : number));
  }
  // Whether the number is among them, in a period with so many.
  [[nodiscard]] bool has(int number, int of) const {
    return from_start.test(static_cast<std::size_t>(number)) ||
           from_end.test(static_cast<std::size_t>(of + 1 - number));
  }
};

inline constexpr int kDaysOfWeek = 7;

struct Rule {
  // Until when occurrences start, this instant included.
  struct Until {
    std::int64_t ms = 0;  // For a date, its midnight as if in UTC.
    bool is_date = false;
  };

  Frequency frequency = Frequency::daily;
  int interval = 1;
  int count = 0;  // 0 if the rule has none.
  std::optional<Until> until;
  std::bitset<13> by_month;
  Positions<54> by_week;
  Positions<367> by_year_day;
  Positions<32> by_month_day;
  std::bitset<kDaysOfWeek> by_day;                    // Monday is 0.
  std::array<Positions<54>, kDaysOfWeek> by_nth_day;  // BYDAY with a number, for each day of the week.
  bool has_nth_day = false;
  Positions<367> by_position;
  int week_start = 0;  // Monday is 0.
};

inline constexpr std::size_t kLongestRule = 512;
inline constexpr int kMostCount = 1000;
inline constexpr int kLongestInterval = 9999;

// Reads the value of an RRULE, in any order of its parts. The failure says what is wrong and what is
// expected. Refused are rules that RFC 5545 forbids, and those below the day: SECONDLY, MINUTELY, HOURLY,
// BYHOUR, BYMINUTE and BYSECOND. UNTIL has to be a date for an event of whole days, and an instant in UTC for
// others.
std::variant<Rule, MethodFailure> parse_rule(std::string_view text, bool all_day);

// The normal form: parts in one order, each list without repetitions and in order, and without what is the
// default anyhow.
std::string to_text(Rule const& rule);

}  // namespace runnel::modules::calendar
