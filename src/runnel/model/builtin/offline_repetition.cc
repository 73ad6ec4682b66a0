#include "runnel/model/builtin/offline_repetition.h"

#include <algorithm>
#include <array>
#include <utility>

namespace runnel::model {

namespace chrono = std::chrono;
using chrono::weekday;

namespace {

using Weekdays = std::vector<weekday>;

constexpr char kDaily[] = "FREQ=DAILY";
constexpr char kWeekly[] = "FREQ=WEEKLY";
constexpr char kMonthly[] = "FREQ=MONTHLY";
constexpr char kYearly[] = "FREQ=YEARLY";
constexpr unsigned kMostDaysOfMonth = 31;

Weekdays working_days() {
  return {chrono::Monday, chrono::Tuesday, chrono::Wednesday, chrono::Thursday, chrono::Friday};
}

Repetition weekly_on(Weekdays weekdays, bool every_other) {
  constexpr std::array<char const*, 7> kNames{"SU", "MO", "TU", "WE", "TH", "FR", "SA"};
  Repetition made;
  made.rule = kWeekly;
  if (every_other) made.rule += ";INTERVAL=2";
  for (std::size_t i = 0; i < weekdays.size(); ++i)
    made.rule.append(i == 0 ? ";BYDAY=" : ",").append(kNames.at(weekdays[i].c_encoding()));
  made.weekdays = std::move(weekdays);
  return made;
}

Repetition monthly_on(unsigned day) {
  Repetition made;
  made.rule = std::string{kMonthly} + ";BYMONTHDAY=" + std::to_string(day);
  made.day_of_month = day;
  return made;
}

Repetition plain(char const* rule) {
  Repetition made;
  made.rule = rule;
  return made;
}

// 一三五, or 一、周三和周五.
Weekdays take_chinese_weekdays(Scan& scan) {
  Weekdays found;
  for (;;) {
    Scan ahead = scan;
    if (!found.empty() && ahead.take_any({"、", "和", "及", ","})) take_week(ahead);
    auto const next = take_chinese_weekday(ahead);
    if (!next || Scan{ahead}.take_any({"次", "个", "起"})) return found;
    found.push_back(*next);
    scan = ahead;
  }
}

std::optional<unsigned> take_chinese_month_day(Scan& scan) {
  Scan ahead = scan;
  auto const day = ahead.take_number();
  if (!day || day->value < 1 || day->value > kMostDaysOfMonth || !ahead.take_any({"号", "日"}))
    return std::nullopt;
  scan = ahead;
  return static_cast<unsigned>(day->value);
}

std::optional<Repetition> take_chinese(Scan& scan) {
  if (scan.take_any({"每个工作日", "每工作日", "工作日每天"})) return weekly_on(working_days(), false);
  if (scan.take_any({"每天", "每日"})) return plain(kDaily);
  if (scan.take("每年")) return plain(kYearly);
  if (scan.take_any({"每个月", "每月"})) {
    auto const day = take_chinese_month_day(scan);
    return day ? monthly_on(*day) : plain(kMonthly);
  }
  Scan ahead = scan;
  bool const every_other = ahead.take_any({"每两个", "每两", "每隔一"});
  if (!every_other && !ahead.take_any({"每个", "每"})) return std::nullopt;
  if (!take_week(ahead)) return std::nullopt;
  if (every_other) {
    ahead.take("的");
    take_week(ahead);
  }
  auto made = weekly_on(take_chinese_weekdays(ahead), every_other);
  scan = ahead;
  return made;
}

Weekdays take_english_weekdays(Scan& scan) {
  Weekdays found;
  for (;;) {
    Scan ahead = scan;
    if (!found.empty()) {
      ahead.take(",");
      ahead.take("and");
    }
    auto const next = take_english_weekday(ahead);
    if (!next) return found;
    found.push_back(*next);
    scan = ahead;
  }
}

std::optional<unsigned> take_english_month_day(Scan& scan) {
  Scan ahead = scan;
  ahead.take("on");
  ahead.take("the");
  auto const day = ahead.take_digits();
  if (!day || day->value < 1 || day->value > kMostDaysOfMonth) return std::nullopt;
  if (!ahead.take_any({"st", "nd", "rd", "th"})) return std::nullopt;
  scan = ahead;
  return static_cast<unsigned>(day->value);
}

Repetition take_weekly(Scan& scan, bool every_other) {
  Scan ahead = scan;
  ahead.take("on");
  auto weekdays = take_english_weekdays(ahead);
  if (!weekdays.empty()) scan = ahead;
  return weekly_on(std::move(weekdays), every_other);
}

std::optional<Repetition> take_english(Scan& scan) {
  if (scan.take_any({"every weekday", "each weekday", "every workday", "every working day", "on weekdays"}))
    return weekly_on(working_days(), false);
  if (scan.take_any({"every day", "each day", "daily"})) return plain(kDaily);
  if (scan.take_any({"every year", "each year", "yearly", "annually"})) return plain(kYearly);
  if (scan.take_any({"every month", "each month", "monthly"})) {
    auto const day = take_english_month_day(scan);
    return day ? monthly_on(*day) : plain(kMonthly);
  }
  if (scan.take_any({"every other week", "every two weeks", "every 2 weeks"})) return take_weekly(scan, true);
  if (scan.take_any({"every week", "each week", "weekly"})) return take_weekly(scan, false);
  Scan ahead = scan;
  bool const every_other = ahead.take("every other");
  if (!every_other && !ahead.take_any({"every", "each"})) return std::nullopt;
  auto weekdays = take_english_weekdays(ahead);
  if (weekdays.empty()) return std::nullopt;
  scan = ahead;
  return weekly_on(std::move(weekdays), every_other);
}

bool takes_place(Repetition const& repetition, Day day) {
  auto const& wanted = repetition.weekdays;
  bool const on_weekday =
      wanted.empty() || std::find(wanted.begin(), wanted.end(), weekday{day}) != wanted.end();
  auto const number = static_cast<unsigned>(chrono::year_month_day{day}.day());
  return on_weekday && repetition.day_of_month.value_or(number) == number;
}

}  // namespace

std::optional<Repetition> take_repetition(Scan& scan) {
  auto const chinese = take_chinese(scan);
  return chinese ? chinese : take_english(scan);
}

Day first_day(Repetition const& repetition, Day from) {
  constexpr int kTwoMonths = 62;
  auto day = from;
  for (int i = 0; i < kTwoMonths && !takes_place(repetition, day); ++i)
    day += chrono::days{1};
  return day;
}

}  // namespace runnel::model
