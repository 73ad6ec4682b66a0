#include "runnel/model/price_times.h"

#include <array>
#include <cstddef>

namespace runnel::model {
namespace {

constexpr int kMinutesOfDay = 24 * 60;
constexpr std::size_t kDayLength = 10;

// Takes exactly `width` digits.
std::optional<int> take_number(std::string_view& rest, std::size_t width) {
  if (rest.size() < width) return std::nullopt;
  int value = 0;
  for (char const c : rest.substr(0, width)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  rest.remove_prefix(width);
  return value;
}

bool take(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

// "15:59", in minutes.
std::optional<int> take_clock(std::string_view& rest) {
  auto const hour = take_number(rest, 2);
  if (!hour || !take(rest, ':')) return std::nullopt;
  auto const minute = take_number(rest, 2);
  if (!minute || *minute > 59 || *hour > 24 || (*hour == 24 && *minute != 0)) return std::nullopt;
  return *hour * 60 + *minute;
}

// "Z", "+08:00", in minutes east of Greenwich.
std::optional<int> take_offset(std::string_view& rest) {
  if (take(rest, 'Z')) return 0;
  bool const west = rest.starts_with('-');
  if (!west && !rest.starts_with('+')) return std::nullopt;
  rest.remove_prefix(1);
  auto const minutes = take_clock(rest);
  if (!minutes) return std::nullopt;
  return west ? -*minutes : *minutes;
}

}  // namespace

std::optional<std::chrono::local_days> parse_day(std::string_view text) {
  auto const year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  auto const month = take_number(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  auto const day = take_number(text, 2);
  if (!day || !text.empty()) return std::nullopt;
  std::chrono::year_month_day const date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::local_days{date};
}

std::optional<std::int64_t> parse_instant(std::string_view text, Zone const& zone) {
  auto const day = parse_day(text.substr(0, kDayLength));
  if (!day) return std::nullopt;
  text.remove_prefix(kDayLength);
  if (text.empty()) return zone.day_begins(*day);

  if (!take(text, 'T')) return std::nullopt;
  auto const minutes = take_clock(text);
  if (!minutes || *minutes == kMinutesOfDay) return std::nullopt;
  std::optional<int> seconds = 0;
  if (take(text, ':')) seconds = take_number(text, 2);
  if (!seconds || *seconds > 59) return std::nullopt;
  auto const offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  auto const instant = std::chrono::sys_days{day->time_since_epoch()} +
                       std::chrono::minutes{*minutes - *offset} + std::chrono::seconds{*seconds};
  return std::chrono::milliseconds{instant.time_since_epoch()}.count();
}

std::optional<Hours> parse_hours(std::string_view text) {
  auto const from = take_clock(text);
  if (!from || !take(text, '-')) return std::nullopt;
  auto const until = take_clock(text);
  if (!until || !text.empty() || *from >= *until) return std::nullopt;
  return Hours{*from, *until};
}

std::optional<std::chrono::weekday> parse_weekday(std::string_view text) {
  constexpr std::array<std::string_view, 7> names{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
  for (unsigned day = 0; day < names.size(); ++day) {
    if (text == names[day]) return std::chrono::weekday{day};
  }
  return std::nullopt;
}

}  // namespace runnel::model
