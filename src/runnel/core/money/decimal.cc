#include "runnel/core/money/decimal.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace runnel {
namespace {

// Larger exponents are cut to this one, which changes no result.
constexpr std::int64_t kLargestExponent = 1'000'000'000;

// digits × 10^exponent. The digits neither begin nor end with 0; zero has no digits.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;
};

std::string_view take_digits(std::string_view& rest) {
  auto const end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  auto const digits = rest.substr(0, end);
  rest.remove_prefix(end);
  return digits;
}

bool take(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

std::optional<std::int64_t> take_exponent(std::string_view& rest) {
  bool const negative = take(rest, '-');
  if (!negative) take(rest, '+');
  auto const digits = take_digits(rest);
  if (digits.empty()) return std::nullopt;
  std::int64_t exponent = 0;
  for (char const c : digits)
    exponent = std::min(exponent * 10 + (c - '0'), kLargestExponent);
  return negative ? -exponent : exponent;
}

void strip_zeros(Decimal& number) {
  auto const last = number.digits.find_last_not_of('0') + 1;  // npos + 1 is 0.
  number.exponent += static_cast<std::int64_t>(number.digits.size() - last);
  number.digits.erase(last);
  number.digits.erase(0, std::min(number.digits.find_first_not_of('0'), number.digits.size()));
}

std::optional<Decimal> read(std::string_view rest) {
  Decimal number;
  number.negative = take(rest, '-');
  number.digits = take_digits(rest);
  if (number.digits.empty()) return std::nullopt;
  if (take(rest, '.')) {
    auto const fraction = take_digits(rest);
    if (fraction.empty()) return std::nullopt;
    number.digits += fraction;
    number.exponent = -static_cast<std::int64_t>(fraction.size());
  }
  if (take(rest, 'e') || take(rest, 'E')) {
    auto const exponent = take_exponent(rest);
    if (!exponent) return std::nullopt;
    number.exponent += *exponent;
  }
  if (!rest.empty()) return std::nullopt;
  strip_zeros(number);
  return number;
}

Units whole(std::string_view digits, std::int64_t zeros) {
  std::int64_t value = 0;
  auto const push = [&](int digit) {
    return !__builtin_mul_overflow(value, 10, &value) && !__builtin_add_overflow(value, digit, &value);
  };
  for (char const c : digits) {
    if (!push(c - '0')) return DecimalFault::too_large;
  }
  for (std::int64_t i = 0; value != 0 && i < zeros; ++i) {
    if (!push(0)) return DecimalFault::too_large;
  }
  return value;
}

// `digits` without the last `dropped` digits, rounded to the nearest number, a half up.
Units rounded(std::string_view digits, std::int64_t dropped) {
  auto const size = static_cast<std::int64_t>(digits.size());
  if (dropped > size) return std::int64_t{0};
  auto const kept = static_cast<std::size_t>(size - dropped);
  auto units = whole(digits.substr(0, kept), 0);
  auto* const value = std::get_if<std::int64_t>(&units);
  if (value != nullptr && digits[kept] >= '5' && __builtin_add_overflow(*value, 1, value))
    return DecimalFault::too_large;
  return units;
}

enum class Finer { refused, rounded };

Units to_units(std::string_view text, int decimals, Finer finer) {
  auto const number = read(text);
  if (!number) return DecimalFault::not_a_number;
  if (number->digits.empty()) return std::int64_t{0};
  if (number->negative) return DecimalFault::negative;
  auto const zeros = number->exponent + decimals;
  if (zeros >= 0) return whole(number->digits, zeros);
  if (finer == Finer::refused) return DecimalFault::too_fine;
  return rounded(number->digits, -zeros);
}

}  // namespace

Units parse_units(std::string_view text, int decimals) {
  return to_units(text, decimals, Finer::refused);
}

Units round_units(std::string_view text, int decimals) {
  return to_units(text, decimals, Finer::rounded);
}

}  // namespace runnel
