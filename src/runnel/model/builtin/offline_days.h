#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runnel/model/builtin/offline_text.h"

// Days as people name them, in Chinese and English.
namespace runnel::model {

using Day = std::chrono::local_days;

// The part of a day, which says what "three o'clock" means.
enum class DayPart { none, night, morning, noon, afternoon, evening };

// A day, or a span of days such as "next week".
struct DayPhrase {
  Day first{};
  Day last{};
  bool is_span = false;
  bool coming = false;      // A weekday alone. It is a week later if that time of today has passed.
  bool impossible = false;  // It is spelt like a day, but there is none, such as 30 February.
  DayPart part = DayPart::none;
};

// The next occurrence counts where a year or a month is left out. A weekday alone is the coming one, which
// may be today; "next Wednesday" and 下周三 are the Wednesday of the week that begins on the next Monday.
std::optional<DayPhrase> take_day(Scan& scan, Day today);

// A day of which only the number is said, 3日 or 3rd, on or after `from`.
std::optional<DayPhrase> take_day_of_month(Scan& scan, Day from);

// "in the morning", 下午. In English, a part stands behind its day or time, and in Chinese before a time.
std::optional<DayPart> take_english_part(Scan& scan);
std::optional<DayPart> take_chinese_part(Scan& scan);

// 周, 星期 or 礼拜.
bool take_week(Scan& scan);
// 一 to 日 or 天 after such a word, if it is not the beginning of another one, such as 日程.
std::optional<std::chrono::weekday> take_chinese_weekday(Scan& scan);
// "Wednesday", "wed".
std::optional<std::chrono::weekday> take_english_weekday(Scan& scan);

// The first such weekday on or after `from`.
Day coming_weekday(std::chrono::weekday weekday, Day from);

// The day `days` after `day`, or nothing if the calendar does not reach so far.
std::optional<Day> day_after(Day day, std::int64_t days);

}  // namespace runnel::model
