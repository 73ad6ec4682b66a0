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

// A time in which the clocks of a zone keep one offset from UTC.
struct ZoneOffset {
  std::int64_t begins_at = 0;  // UNIX milliseconds; some 30,000 years away if there is no earlier offset.
  std::int64_t ends_at = 0;    // The same.
  std::int64_t seconds = 0;    // What the clocks are ahead of UTC.
  bool is_summer = false;      // Daylight saving time.
  std::string name;            // Such as CEST or +08.
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
  [[nodiscard]] ZoneOffset offset_at(std::int64_t ms) const;
  // When the clocks show this local time, in milliseconds since 1970, as RFC 5545 asks: a time that they skip
  // is counted with the offset before the gap, and of a time that comes twice it is the first.
  [[nodiscard]] std::int64_t instant_of(std::chrono::local_seconds local) const;

 private:
  explicit Zone(date::time_zone const& zone) : zone_{&zone} {}

  date::time_zone const* zone_;
};

}  // namespace runnel
