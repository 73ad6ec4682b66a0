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

// A minute of local time in a zone.
struct LocalMinute {
  std::chrono::local_days day;
  int minute = 0;  // The minute of the day.
};

// A time zone in the IANA database. find() reads its file; the other functions read no file.
class Zone {
 public:
  static std::optional<Zone> find(std::string const& name);

  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] LocalMinute at(std::int64_t ms) const;
  // The local time of an instant, in milliseconds as if it were in UTC.
  [[nodiscard]] std::int64_t to_local(std::int64_t ms) const;
  // The instant of such a local time: the first one if it comes twice, and if a change of clocks skips it,
  // the instant of the change, which is the first moment after the gap.
  [[nodiscard]] std::int64_t to_instant(std::int64_t local_ms) const;
  // The first instant of that day, in milliseconds since 1970.
  [[nodiscard]] std::int64_t day_begins(std::chrono::local_days day) const;

 private:
  explicit Zone(date::time_zone const& zone) : zone_{&zone} {}

  date::time_zone const* zone_;
};

}  // namespace runnel
