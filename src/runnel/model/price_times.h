#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runnel/core/zone.h"

// The dates and hours of a price file.
namespace runnel::model {

// Minutes of a day, the last one excluded.
struct Hours {
  int from = 0;
  int until = 0;

  bool operator==(Hours const&) const = default;
};

// "2026-10-17".
std::optional<std::chrono::local_days> parse_day(std::string_view text);

// "2026-07-24T15:59:00Z" or with an offset as +08:00, in milliseconds since 1970; seconds may be left out. A
// day alone is its first instant in `zone`.
std::optional<std::int64_t> parse_instant(std::string_view text, Zone const& zone);

// "09:00-12:00". The end may be 24:00, and is later than the beginning.
std::optional<Hours> parse_hours(std::string_view text);

// "mon".
std::optional<std::chrono::weekday> parse_weekday(std::string_view text);

}  // namespace runnel::model
