#include "runnel/core/money/money.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace runnel {
namespace {
constexpr std::size_t kDecimals = 12;

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// `digits` is a magnitude in units of the last decimal.
std::string with_point(bool negative, std::string digits) {
  if (digits.size() <= kDecimals) digits.insert(0, kDecimals + 1 - digits.size(), '0');
  digits.insert(digits.size() - kDecimals, 1, '.');
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return negative ? "-" + digits : digits;
}
}  // namespace

std::optional<Money> checked_add(Money a, Money b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.pico, b.pico, &sum)) return std::nullopt;
  return Money{sum};
}

Money saturating_add(Money a, Money b) {
  return checked_add(a, b).value_or(Money{std::numeric_limits<std::int64_t>::max()});
}

std::string to_decimal(Money amount) {
  bool const negative = amount.pico < 0;
  auto const magnitude =
      negative ? 0 - static_cast<std::uint64_t>(amount.pico) : static_cast<std::uint64_t>(amount.pico);
  return with_point(negative, std::to_string(magnitude));
}

std::string to_decimal(MoneyTotal const& total) {
  bool const negative = total.pico_ < 0;
  std::string digits;
  for (auto rest = total.pico_; rest != 0; rest /= 10) {
    auto const digit = static_cast<int>(rest % 10);
    digits += static_cast<char>('0' + (negative ? -digit : digit));
  }
  std::reverse(digits.begin(), digits.end());
  return with_point(negative, std::move(digits));
}

std::optional<Money> parse_money(std::string_view text) {
  bool const negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  auto const point = text.find('.');
  auto const whole = text.substr(0, point);
  auto const fraction = point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
  if (whole.empty() || !all_digits(whole) || !all_digits(fraction)) return std::nullopt;
  if (point != std::string_view::npos && fraction.empty()) return std::nullopt;
  if (fraction.size() > kDecimals) return std::nullopt;

  std::int64_t value = 0;
  auto const push = [&](int digit) {
    return !__builtin_mul_overflow(value, 10, &value) && !__builtin_sub_overflow(value, digit, &value);
  };  // Counts down, so that the most negative amount parses too.
  for (char const c : whole) {
    if (!push(c - '0')) return std::nullopt;
  }
  for (std::size_t i = 0; i < kDecimals; ++i) {
    if (!push(i < fraction.size() ? fraction[i] - '0' : 0)) return std::nullopt;
  }
  if (negative) return Money{value};
  if (value == INT64_MIN) return std::nullopt;
  return Money{-value};
}

}  // namespace runnel
