#include "runnel/modules/calendar/ics/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace runnel::modules::calendar {

namespace {

using std::chrono::local_days;
using std::chrono::local_seconds;

constexpr int kFirstYear = 1970;
constexpr std::size_t kDateDigits = 8;
constexpr std::size_t kMostDigits = 9;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool are_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), &is_digit);
}

int number_at(std::string_view digits, std::size_t at, std::size_t length) {
  int out = 0;
  std::from_chars(digits.data() + at, digits.data() + at + length, out);
  return out;
}

std::optional<local_days> parse_date(std::string_view text) {
  if (text.size() != kDateDigits || !are_digits(text)) return std::nullopt;
  std::chrono::year_month_day const date{std::chrono::year{number_at(text, 0, 4)},
                                         std::chrono::month{static_cast<unsigned>(number_at(text, 4, 2))},
                                         std::chrono::day{static_cast<unsigned>(number_at(text, 6, 2))}};
  if (!date.ok() || static_cast<int>(date.year()) < kFirstYear) return std::nullopt;
  return local_days{date};
}

std::optional<std::chrono::seconds> parse_time_of_day(std::string_view text) {
  if (text.size() != 6 || !are_digits(text)) return std::nullopt;
  auto const hours = number_at(text, 0, 2);
  auto const minutes = number_at(text, 2, 2);
  auto const seconds = number_at(text, 4, 2);
  if (hours > 23 || minutes > 59 || seconds > 59) return std::nullopt;
  return std::chrono::hours{hours} + std::chrono::minutes{minutes} + std::chrono::seconds{seconds};
}

// The seconds of one unit, or the days of one above hours; 0 if it must not stand there. `last` is the unit
// before it.
std::int64_t amount_of(char unit, bool in_time, char last) {
  static constexpr std::string_view kOrder = "WDHMS";
  static constexpr std::int64_t kAmounts[] = {7, 1, 3600, 60, 1};
  auto const at = kOrder.find(unit);
  if (at == std::string_view::npos || in_time != (at >= 2)) return 0;
  if (last != '\0' && (last == 'W' || unit == 'W' || kOrder.find(last) >= at)) return 0;
  return kAmounts[at];
}

}  // namespace

std::optional<FileTime> parse_file_time(std::string_view text) {
  auto const day = parse_date(text.substr(0, kDateDigits));
  if (!day) return std::nullopt;
  FileTime out{*day, text.size() == kDateDigits};
  if (out.is_date) return out;
  text.remove_prefix(kDateDigits);
  out.is_utc = text.ends_with('Z');
  if (out.is_utc) text.remove_suffix(1);
  if (!text.starts_with('T')) return std::nullopt;
  auto const time = parse_time_of_day(text.substr(1));
  if (!time) return std::nullopt;
  out.local += *time;
  return out;
}

std::optional<FileDuration> parse_duration(std::string_view text) {
  bool const negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (!text.starts_with('P')) return std::nullopt;
  text.remove_prefix(1);
  FileDuration total;
  bool in_time = false;
  char last = '\0';
  while (!text.empty()) {
    if (text.front() == 'T' && !in_time) {
      in_time = true;
      text.remove_prefix(1);
    }
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits]))
      ++digits;
    if (digits == 0 || digits > kMostDigits || digits == text.size()) return std::nullopt;
    auto const unit = amount_of(text[digits], in_time, last);
    if (unit == 0) return std::nullopt;
    last = text[digits];
    (in_time ? total.seconds : total.days) += number_at(text, 0, digits) * unit;
    text.remove_prefix(digits + 1);
  }
  if (last == '\0') return std::nullopt;
  if (negative) total = {-total.days, -total.seconds};
  return total;
}

std::optional<std::int64_t> parse_count(std::string_view text) {
  if (!are_digits(text) || text.size() > kMostDigits) return std::nullopt;
  return number_at(text, 0, text.size());
}

std::string date_text(local_seconds local) {
  std::chrono::year_month_day const date{std::chrono::floor<std::chrono::days>(local)};
  return fmt::format("{:04}{:02}{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string date_time_text(local_seconds local) {
  auto const of_day = (local - std::chrono::floor<std::chrono::days>(local)).count();
  return date_text(local) + fmt::format("T{:02}{:02}{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60);
}

local_seconds in_utc(std::int64_t ms) {
  return local_seconds{std::chrono::floor<std::chrono::seconds>(std::chrono::milliseconds{ms})};
}

}  // namespace runnel::modules::calendar
