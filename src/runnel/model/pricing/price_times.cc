#include "runnel/model/pricing/price_times.h"

#include <array>
#include <cstddef>

namespace runnel::model {
namespace {

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

}  // namespace

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
