#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runnel/core/time/zone.h"
#include "runnel/model/builtin/offline_days.h"
#include "runnel/model/builtin/offline_text.h"
#include "runnel/model/builtin/offline_times.h"

// When something is, as a user says it in Chinese or English.
namespace runnel::model {

// When and where the user's words were written.
struct Moment {
  std::int64_t now_ms = 0;
  Zone zone;

  [[nodiscard]] Day today() const { return zone.at(now_ms).day; }
};

// The parts that the words have. What they leave out is empty.
struct When {
  std::optional<DayPhrase> day;
  std::optional<int> start;  // Minutes since midnight of the day.
  std::optional<int> end;
  std::optional<std::int64_t> length;       // Minutes.
  std::optional<std::int64_t> days;         // 三天
  std::optional<std::int64_t> from_now_ms;  // "in two hours"
  std::optional<std::int64_t> reminder;     // Minutes before the start, at which the user is reminded.
  bool all_day = false;
  std::string rule;         // How it is repeated, as a rule of RFC 5545. Empty if it is not.
  bool impossible = false;  // A day or a time that does not exist.
  bool ambiguous = false;   // More than one day or time.
  std::string rest;         // The other words, as they were written.

  [[nodiscard]] bool says_time() const { return start || from_now_ms; }
  [[nodiscard]] bool says_anything() const {
    return day || says_time() || all_day || days || !rule.empty() || impossible;
  }
};

// Where a number alone may be a time: after words such as "at", or also at the beginning, as what follows
// "move it to".
enum class BareStart { no, yes };

When read_when(OfflineText const& words, Moment const& moment, BareStart bare = BareStart::no);

// The instant of a local time, in UNIX milliseconds. A time that a change of clocks skips is as much later as
// the clocks went forward; of a time that comes twice, it is the first.
std::int64_t instant_of(Zone const& zone, Day day, std::int64_t minutes);

// The instant as RFC 3339 with the offset that the zone then has: 2026-11-20T12:00:00+08:00.
std::string to_local_rfc3339(Zone const& zone, std::int64_t ms);

// 2026-11-20.
std::string to_date(Day day);

}  // namespace runnel::model
