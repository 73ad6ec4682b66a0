#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace runnel {

// Why a text is not a whole number of units.
enum class DecimalFault {
  not_a_number,  // "NaN", "1.", "+1", "0x10", "1,5" and the like.
  negative,
  too_fine,  // It has a part smaller than a unit.
  too_large,
};
using Units = std::variant<std::int64_t, DecimalFault>;

// A decimal number, plain or in scientific notation ("0.8", "1.4e-07"), as a count of units of
// 10^-`decimals`. The result is exact: no floating-point number is involved, and a number finer than a unit
// is refused.
Units parse_units(std::string_view text, int decimals);

// The same for a number that a provider wrote: it is rounded to the nearest unit, a half up.
Units round_units(std::string_view text, int decimals);

}  // namespace runnel
