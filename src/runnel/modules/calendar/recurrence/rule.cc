#include "runnel/modules/calendar/recurrence/rule.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "runnel/core/time/instant.h"

namespace runnel::modules::calendar {

namespace {

constexpr std::array<std::string_view, kDaysOfWeek> kDayNames{"MO", "TU", "WE", "TH", "FR", "SA", "SU"};
constexpr std::array<std::string_view, 4> kFrequencyNames{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"};

// What is wrong with a part of a rule, or nothing.
using Problem = std::optional<std::string>;

std::string upper(std::string_view text) {
  std::string out{text};
  for (auto& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

// A whole number with an optional sign, and nothing else.
std::optional<int> to_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('+') || text.empty()) return std::nullopt;
  int out = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// The text before the separator, which is taken off with it.
std::string_view take_until(std::string_view& text, char separator) {
  auto const end = std::min(text.find(separator), text.size());
  auto const out = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return out;
}

// Calls `add` with each number of the list. Numbers are from 1 to `most`, and from -most to -1 if `negative`.
template <class Add>
Problem read_numbers(std::string_view list, int most, bool negative, Add add) {
  bool const ends_in_comma = list.ends_with(',');
  bool bad = list.empty() || ends_in_comma;
  while (!bad && !list.empty()) {
    auto const number = to_number(take_until(list, ','));
    bad = !number || *number == 0 || *number > most || *number < (negative ? -most : 1);
    if (!bad) add(*number);
  }
  if (!bad) return std::nullopt;
  auto const range = negative ? "1 to " + std::to_string(most) + " or -1 to -" + std::to_string(most)
                              : "1 to " + std::to_string(most);
  return "must have numbers from " + range + ", separated by commas";
}

template <std::size_t kSize>
Problem read_positions(std::string_view list, int most, Positions<kSize>& out) {
  return read_numbers(list, most, true, [&](int number) { out.add(number); });
}

Problem read_months(std::string_view list, Rule& rule) {
  return read_numbers(list, 12, false,
                      [&](int month) { rule.by_month.set(static_cast<std::size_t>(month)); });
}

std::optional<std::size_t> day_named(std::string_view name) {
  auto const found = std::find(kDayNames.begin(), kDayNames.end(), name);
  if (found == kDayNames.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kDayNames.begin());
}

bool add_day(std::string_view item, Rule& rule) {
  if (item.size() < 2) return false;
  auto const day = day_named(item.substr(item.size() - 2));
  if (!day) return false;
  item.remove_suffix(2);
  if (item.empty()) {
    rule.by_day.set(*day);
    return true;
  }
  auto const nth = to_number(item);
  if (!nth || *nth == 0 || *nth > 53 || *nth < -53) return false;
  rule.by_nth_day.at(*day).add(*nth);
  rule.has_nth_day = true;
  return true;
}

Problem read_days(std::string_view list, Rule& rule) {
  bool bad = list.empty() || list.ends_with(',');
  while (!bad && !list.empty())
    bad = !add_day(take_until(list, ','), rule);
  if (!bad) return std::nullopt;
  return "must have days such as MO, or 2MO and -1FR for the second Monday and the last Friday, separated by "
         "commas";
}

Problem read_frequency(std::string_view name, Rule& rule) {
  auto const found = std::find(kFrequencyNames.begin(), kFrequencyNames.end(), name);
  if (found == kFrequencyNames.end()) return "must be DAILY, WEEKLY, MONTHLY or YEARLY";
  rule.frequency = static_cast<Frequency>(found - kFrequencyNames.begin());
  return std::nullopt;
}

Problem read_one(std::string_view text, int most, int& out) {
  auto const number = to_number(text);
  if (!number || *number < 1 || *number > most) return "must be a number from 1 to " + std::to_string(most);
  out = *number;
  return std::nullopt;
}

Problem read_week_start(std::string_view name, Rule& rule) {
  auto const day = day_named(name);
  if (!day) return "must be one of MO, TU, WE, TH, FR, SA and SU";
  rule.week_start = static_cast<int>(*day);
  return std::nullopt;
}

// 20261231 or 20261231T235959Z as RFC 3339, which has one reader for the whole tree.
std::string with_separators(std::string_view text) {
  std::string out{text};
  if (out.size() >= 8) out.insert(6, "-").insert(4, "-");
  if (out.size() >= 17) out.insert(15, ":").insert(13, ":");
  return out;
}

bool is_all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Problem read_until(std::string_view text, bool all_day, Rule& rule) {
  bool const is_date = text.size() == 8 && is_all_digits(text);
  bool const is_instant = text.size() == 16 && text[8] == 'T' && text[15] == 'Z' &&
                          is_all_digits(text.substr(0, 8)) && is_all_digits(text.substr(9, 6));
  if (all_day ? !is_date : !is_instant) {
    return all_day
               ? "must be a date such as 20261231, because the event takes whole days"
               : "must be an instant in UTC such as 20261231T235959Z, because the event is at a time of day";
  }
  auto const ms = parse_instant(with_separators(text));
  if (!ms || *ms < 0) return "must be a date that exists, in the years 1970 to 9999";
  rule.until = Rule::Until{*ms, is_date};
  return std::nullopt;
}

constexpr std::array<std::string_view, 11> kPartNames{"FREQ",    "INTERVAL", "COUNT",     "UNTIL",
                                                      "BYMONTH", "BYWEEKNO", "BYYEARDAY", "BYMONTHDAY",
                                                      "BYDAY",   "BYSETPOS", "WKST"};

// Which parts a rule has had.
using Seen = std::bitset<kPartNames.size()>;

Problem read_part(std::string_view name, std::string_view value, bool all_day, Rule& rule) {
  if (name == "FREQ") return read_frequency(value, rule);
  if (name == "INTERVAL") return read_one(value, kLongestInterval, rule.interval);
  if (name == "COUNT") return read_one(value, kMostCount, rule.count);
  if (name == "UNTIL") return read_until(value, all_day, rule);
  if (name == "BYMONTH") return read_months(value, rule);
  if (name == "BYWEEKNO") return read_positions(value, 53, rule.by_week);
  if (name == "BYYEARDAY") return read_positions(value, 366, rule.by_year_day);
  if (name == "BYMONTHDAY") return read_positions(value, 31, rule.by_month_day);
  if (name == "BYDAY") return read_days(value, rule);
  if (name == "BYSETPOS") return read_positions(value, 366, rule.by_position);
  return read_week_start(value, rule);
}

// What RFC 5545 does not allow together.
Problem check_parts(Rule const& rule, Seen const& seen) {
  bool const yearly = rule.frequency == Frequency::yearly;
  bool const has_list = rule.by_month.any() || !rule.by_week.empty() || !rule.by_year_day.empty() ||
                        !rule.by_month_day.empty() || rule.by_day.any() || rule.has_nth_day;
  if (!seen.test(0)) return "must have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY";
  if (rule.count > 0 && rule.until) return "cannot have both COUNT and UNTIL";
  if (!yearly && !rule.by_week.empty()) return "can have BYWEEKNO only with FREQ=YEARLY";
  if (!yearly && !rule.by_year_day.empty()) return "can have BYYEARDAY only with FREQ=YEARLY";
  if (rule.frequency == Frequency::weekly && !rule.by_month_day.empty())
    return "cannot have BYMONTHDAY with FREQ=WEEKLY";
  if (rule.has_nth_day && !yearly && rule.frequency != Frequency::monthly)
    return "can have a number in BYDAY only with FREQ=MONTHLY or YEARLY";
  if (rule.has_nth_day && !rule.by_week.empty()) return "cannot have a number in BYDAY with BYWEEKNO";
  if (!rule.by_position.empty() && !has_list) return "can have BYSETPOS only with another BY part";
  return std::nullopt;
}

Problem read_parts(std::string_view text, bool all_day, Rule& rule) {
  Seen seen;
  bool const ends_early = text.empty() || text.ends_with(';');
  while (!ends_early && !text.empty()) {
    auto value = take_until(text, ';');
    auto const name = take_until(value, '=');
    if (name == "BYHOUR" || name == "BYMINUTE" || name == "BYSECOND")
      return "cannot have BYHOUR, BYMINUTE or BYSECOND: an event is at one time of day, that of its start";
    auto const* const part = std::find(kPartNames.begin(), kPartNames.end(), name);
    if (part == kPartNames.end()) {
      return "must have parts such as FREQ=WEEKLY;BYDAY=MO,WE, which can be FREQ, INTERVAL, COUNT, UNTIL, "
             "BYMONTH, BYWEEKNO, BYYEARDAY, BYMONTHDAY, BYDAY, BYSETPOS and WKST";
    }
    auto const number = static_cast<std::size_t>(part - kPartNames.begin());
    if (seen.test(number)) return "has " + std::string{name} + " twice";
    seen.set(number);
    if (auto problem = read_part(name, value, all_day, rule)) return std::string{name} + " " + *problem;
  }
  if (ends_early) return "must have parts such as FREQ=WEEKLY;BYDAY=MO,WE, separated by semicolons";
  return check_parts(rule, seen);
}

template <std::size_t kSize>
void append_numbers(std::string& list, Positions<kSize> const& positions, std::string_view suffix) {
  auto const add = [&](std::string const& number) {
    if (!list.empty()) list += ',';
    list.append(number).append(suffix);
  };
  for (std::size_t i = 1; i < kSize; ++i) {
    if (positions.from_start.test(i)) add(std::to_string(i));
  }
  for (std::size_t i = 1; i < kSize; ++i) {
    if (positions.from_end.test(i)) add("-" + std::to_string(i));
  }
}

std::string days_text(Rule const& rule) {
  std::string list;
  for (std::size_t day = 0; day < kDayNames.size(); ++day) {
    if (!rule.by_day.test(day)) continue;
    if (!list.empty()) list += ',';
    list += kDayNames.at(day);
  }
  for (std::size_t day = 0; day < kDayNames.size(); ++day)
    append_numbers(list, rule.by_nth_day.at(day), kDayNames.at(day));
  return list;
}

std::string until_text(Rule::Until const& until) {
  auto text = to_rfc3339_seconds(until.ms / 1000);
  if (until.is_date) text.resize(10);
  std::erase(text, '-');
  std::erase(text, ':');
  return text;
}

}  // namespace

std::variant<Rule, MethodFailure> parse_rule(std::string_view text, bool all_day) {
  if (text.size() > kLongestRule)
    return MethodFailure{kInvalidInput,
                         "rrule must have at most " + std::to_string(kLongestRule) + " characters"};
  Rule rule;
  auto const upper_text = upper(text);
  if (auto const problem = read_parts(upper_text, all_day, rule))
    return MethodFailure{kInvalidInput, "rrule " + *problem};
  return rule;
}

std::string to_text(Rule const& rule) {
  std::string out;
  auto const add = [&](std::string_view name, std::string const& value) {
    if (value.empty()) return;
    if (!out.empty()) out += ';';
    out.append(name).append("=").append(value);
  };
  auto const numbers = [](auto const& positions) {
    std::string list;
    append_numbers(list, positions, "");
    return list;
  };
  add("FREQ", std::string{kFrequencyNames.at(static_cast<std::size_t>(rule.frequency))});
  if (rule.interval > 1) add("INTERVAL", std::to_string(rule.interval));
  if (rule.count > 0) add("COUNT", std::to_string(rule.count));
  if (rule.until) add("UNTIL", until_text(*rule.until));
  add("BYMONTH", numbers(Positions<13>{rule.by_month, {}}));
  add("BYWEEKNO", numbers(rule.by_week));
  add("BYYEARDAY", numbers(rule.by_year_day));
  add("BYMONTHDAY", numbers(rule.by_month_day));
  add("BYDAY", days_text(rule));
  add("BYSETPOS", numbers(rule.by_position));
  if (rule.week_start != 0) add("WKST", std::string{kDayNames.at(static_cast<std::size_t>(rule.week_start))});
  return out;
}

}  // namespace runnel::modules::calendar
