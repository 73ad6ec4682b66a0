#pragma once

#include <cstdint>
#include <optional>

#include "runnel/model/builtin/offline_days.h"

// Times of day and lengths of time as people name them, in Chinese and English.
namespace runnel::model {

inline constexpr int kMinutesOfHour = 60;
inline constexpr int kMinutesOfDay = 24 * kMinutesOfHour;
inline constexpr std::int64_t kMinuteMs = 60'000;

enum class HalfDay { none, am, pm };

// A time as it was said. What it means depends on the words around it: "4" in "from 3 to 4 pm".
struct SaidTime {
  int hour = 0;
  int minute = 0;
  HalfDay half = HalfDay::none;
  DayPart part = DayPart::none;
  bool leading_zero = false;  // 03:00 is in the night, and 3:00 need not be.
  bool impossible = false;    // Such as 25:00.
};

// A number alone is a time only where the words before it say so.
enum class BareHour { no, yes };

// 一点 also means "a little". Alone it is a time only where the words before it say so, such as 下午 or 到.
enum class BareOne { no, yes };

std::optional<SaidTime> take_time(Scan& scan, BareHour bare, BareOne one);

// The minutes since midnight. `part` is the part of the day that was said elsewhere. From one to six o'clock
// without anything else is in the afternoon. More than a day if it is in the night after an evening.
int minutes_of(SaidTime const& time, DayPart part);

// The start and the end of "from 3 to 4 pm" in minutes since midnight.
struct Span {
  int start = 0;
  int end = 0;
};
Span minutes_of_span(SaidTime start, SaidTime end, DayPart part);

// A length of time. Days if they were named as such.
struct Length {
  std::int64_t minutes = 0;
  std::int64_t days = 0;
};

// "45 minutes", 一个半小时, "half an hour", 三天.
std::optional<Length> take_length(Scan& scan);

}  // namespace runnel::model
