#pragma once

#include <chrono>
#include <optional>
#include <string_view>

// The hours and weekdays of a price file.
namespace runnel::model {

// A range of minutes of a day. `until` is excluded.
struct Hours {
  int from = 0;
  int until = 0;

  bool operator==(Hours const&) const = default;
};

// "09:00-12:00". The end may be 24:00, and is later than the beginning.
std::optional<Hours> parse_hours(std::string_view text);

// "mon".
std::optional<std::chrono::weekday> parse_weekday(std::string_view text);

}  // namespace runnel::model
