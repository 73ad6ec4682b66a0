#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The values of an iCalendar file (RFC 5545 3.3), and the same values as text.
namespace runnel::modules::calendar {

// A DATE or a DATE-TIME as it is written.
struct FileTime {
  std::chrono::local_seconds local;
  bool is_date = false;
  bool is_utc = false;
};

// Such as 20260501, 20260501T090000 or 20260501T090000Z. Empty if the text is anything else, or a date or a
// time that does not exist. The years are 1970 to 9999.
std::optional<FileTime> parse_file_time(std::string_view text);

// A DURATION. A day has 24 hours only if the clocks do not change.
struct FileDuration {
  std::int64_t days = 0;
  std::int64_t seconds = 0;
};

// Such as PT1H30M, -P1D or P2W. Empty if the text is anything else.
std::optional<FileDuration> parse_duration(std::string_view text);

// A whole number that is not negative and has at most nine digits.
std::optional<std::int64_t> parse_count(std::string_view text);

std::string date_text(std::chrono::local_seconds local);       // 20260501
std::string date_time_text(std::chrono::local_seconds local);  // 20260501T090000

// The local time in UTC.
std::chrono::local_seconds in_utc(std::int64_t ms);

}  // namespace runnel::modules::calendar
