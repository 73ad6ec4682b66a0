#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runnel {

// An amount in units of 1e-12 of the thread's currency. It is an integer, so that a sum equals its parts to
// the last digit.
struct Money {
  std::int64_t pico = 0;

  auto operator<=>(Money const&) const = default;
};

// The sum. Empty if a Money cannot hold it.
std::optional<Money> checked_add(Money a, Money b);

// The sum, or the largest Money if the sum does not fit.
Money saturating_add(Money a, Money b);

// A sum of amounts, which is exact even if a Money cannot hold it.
class MoneyTotal {
 public:
  void add(Money amount) { pico_ += amount.pico; }

  // Adds high * 2^32 + low. `high` and `low` are the sums of the amounts' upper and lower 32 bits, which a
  // database can add up without overflow.
  void add_halves(std::int64_t high, std::int64_t low) {
    pico_ += static_cast<Wide>(high) * (1LL << 32) + low;
  }

  [[nodiscard]] bool exceeds(Money limit) const { return pico_ > limit.pico; }
  [[nodiscard]] bool equals(Money amount) const { return pico_ == amount.pico; }

  friend std::string to_decimal(MoneyTotal const& total);

 private:
  __extension__ typedef __int128 Wide;

  Wide pico_ = 0;
};

// Plain decimal text without exponent or trailing zeros: 1500000000000 -> "1.5", 0 -> "0".
std::string to_decimal(Money amount);
std::string to_decimal(MoneyTotal const& total);

// The inverse of to_decimal. Empty if the text has more than 12 decimals, an exponent or a sign other than
// '-', or if the amount does not fit.
std::optional<Money> parse_money(std::string_view text);

}  // namespace runnel
