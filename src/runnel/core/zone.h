#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace date {
class time_zone;
}

namespace runnel {

// A minute on the clocks of a zone.
struct LocalMinute {
  std::chrono::local_days day;
  int minute = 0;  // Of the day.
};

// A zone of the IANA database. It is read when it is found; afterwards no file is touched.
class Zone {
 public:
  static std::optional<Zone> find(std::string const& name);

  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] LocalMinute at(std::int64_t ms) const;
  // The first instant of that day, in milliseconds since 1970.
  [[nodiscard]] std::int64_t day_begins(std::chrono::local_days day) const;

 private:
  explicit Zone(date::time_zone const& zone) : zone_{&zone} {}

  date::time_zone const* zone_;
};

}  // namespace runnel
