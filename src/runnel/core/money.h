#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runnel {

// An amount in units of 1e-12 of the thread's currency. Integers only: sums equal their parts to the last
// digit.
struct Money {
  std::int64_t pico = 0;

  auto operator<=>(Money const&) const = default;
};

// The sum, or nothing where it would not fit.
std::optional<Money> checked_add(Money a, Money b);

// Plain decimal text without exponent or trailing zeros: 1500000000000 -> "1.5", 0 -> "0".
std::string to_decimal(Money amount);

// The inverse of to_decimal; refuses more than 12 decimals, exponents, signs other than '-', and what does
// not fit.
std::optional<Money> parse_money(std::string_view text);

}  // namespace runnel
