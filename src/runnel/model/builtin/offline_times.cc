#include "runnel/model/builtin/offline_times.h"

namespace runnel::model {
namespace {

constexpr int kLastHour = 24;
constexpr int kNoon = 12;
constexpr int kQuarter = 15;
constexpr int kHalf = 30;
constexpr int kLastEarlyHour = 6;    // At three o'clock, people have tea and do not sleep.
constexpr int kLastHourOfNight = 4;  // 晚上一点 is after midnight.
constexpr std::int64_t kMostLength = 1'000'000;

SaidTime time_of(Number const& hour, std::int64_t minute) {
  SaidTime time;
  time.impossible =
      hour.value > kLastHour || minute >= kMinutesOfHour || (hour.value == kLastHour && minute > 0);
  if (time.impossible) return time;
  time.hour = static_cast<int>(hour.value);
  time.minute = static_cast<int>(minute);
  time.leading_zero = hour.leading_zero;
  return time;
}

// --- Chinese ---

std::int64_t take_chinese_minutes(Scan& scan) {
  if (scan.take("半")) return kHalf;
  if (scan.take("一刻")) return kQuarter;
  if (scan.take("三刻")) return std::int64_t{3} * kQuarter;
  Scan ahead = scan;
  auto const minutes = ahead.take_number();
  bool const has_mark = ahead.take("分");
  // 三点二十 has no mark. 三点3 people is no time.
  if (!minutes || (!has_mark && minutes->value < 10 && !minutes->leading_zero)) {
    scan.take_any({"整", "钟"});
    return 0;
  }
  ahead.take("钟");
  scan = ahead;
  return minutes->value;
}

// 一点儿, 一点点 and 一点也 are never times.
bool goes_on_as_a_little(Scan scan) {
  return scan.take_any({"儿", "点", "都", "也"});
}

std::optional<SaidTime> take_chinese_time(Scan& scan, BareOne one) {
  Scan ahead = scan;
  auto const hour = ahead.take_number();
  if (!hour) return std::nullopt;
  bool const says_clock = ahead.take("点钟");
  if (!says_clock && !ahead.take_any({"点", "时"})) return std::nullopt;
  if (Scan{ahead}.take_any({"间", "候", "击", "名", "评", "赞"})) return std::nullopt;
  auto const behind_hour = ahead.at();
  auto const minutes = take_chinese_minutes(ahead);
  bool const may_be_a_little =
      hour->value == 1 && !hour->in_digits && !says_clock && ahead.at() == behind_hour;
  if (may_be_a_little && (one == BareOne::no || goes_on_as_a_little(ahead))) return std::nullopt;
  scan = ahead;
  return time_of(*hour, minutes);
}

// --- English and numbers ---

HalfDay take_half(Scan& scan) {
  static Meanings<HalfDay> const all{{"a.m.", HalfDay::am}, {"a.m", HalfDay::am}, {"am", HalfDay::am},
                                     {"p.m.", HalfDay::pm}, {"p.m", HalfDay::pm}, {"pm", HalfDay::pm}};
  return scan.take_one(all).value_or(HalfDay::none);
}

// 12:30, 9 pm, 9 o'clock.
std::optional<SaidTime> take_english_time(Scan& scan, BareHour bare) {
  Scan ahead = scan;
  auto const hour = ahead.take_number();
  if (!hour) return std::nullopt;
  Scan behind_mark = ahead;
  auto const minutes = behind_mark.take(":") ? behind_mark.take_digits() : std::nullopt;
  if (minutes) ahead = behind_mark;
  auto const half = take_half(ahead);
  bool const exact = ahead.take_any({"o'clock", "oclock"});
  if (!minutes && half == HalfDay::none && !exact && bare == BareHour::no) return std::nullopt;
  auto time = time_of(*hour, minutes ? minutes->value : 0);
  time.half = half;
  if (half != HalfDay::none && (time.hour == 0 || time.hour > kNoon)) time.impossible = true;
  scan = ahead;
  return time;
}

// "half past nine", "a quarter to four".
std::optional<SaidTime> take_past(Scan& scan) {
  static Meanings<int> const all{{"half past", kHalf},
                                 {"a quarter past", kQuarter},
                                 {"quarter past", kQuarter},
                                 {"a quarter to", -kQuarter},
                                 {"quarter to", -kQuarter}};
  Scan ahead = scan;
  auto const shift = ahead.take_one(all);
  if (!shift) return std::nullopt;
  auto const hour = ahead.take_number();
  if (!hour || hour->value < 1) return std::nullopt;
  // The hour before one is twelve, by day.
  auto const before = hour->value == 1 ? kNoon : hour->value - 1;
  auto time = time_of(*shift < 0 ? Number{before} : *hour, *shift < 0 ? kMinutesOfHour + *shift : *shift);
  time.half = take_half(ahead);
  scan = ahead;
  return time;
}

std::optional<SaidTime> take_named_time(Scan& scan) {
  static Meanings<int> const all{{"noon", kNoon}, {"midday", kNoon}, {"midnight", 0}, {"午夜", 0}};
  auto const hour = scan.take_one(all);
  if (!hour) return std::nullopt;
  SaidTime time;
  time.hour = *hour;
  time.leading_zero = true;
  return time;
}

// --- Lengths ---

struct LengthUnit {
  std::int64_t minutes = 0;
  std::int64_t days = 0;
};

Meanings<LengthUnit> const& length_units() {
  constexpr int kDaysOfWeek = 7;
  static Meanings<LengthUnit> const all{{"分钟", {1}},
                                        {"刻钟", {kQuarter}},
                                        {"小时", {kMinutesOfHour}},
                                        {"钟头", {kMinutesOfHour}},
                                        {"天", {0, 1}},
                                        {"minutes", {1}},
                                        {"minute", {1}},
                                        {"mins", {1}},
                                        {"min", {1}},
                                        {"hours", {kMinutesOfHour}},
                                        {"hour", {kMinutesOfHour}},
                                        {"hrs", {kMinutesOfHour}},
                                        {"hr", {kMinutesOfHour}},
                                        {"h", {kMinutesOfHour}},
                                        {"days", {0, 1}},
                                        {"day", {0, 1}},
                                        {"weeks", {0, kDaysOfWeek}},
                                        {"week", {0, kDaysOfWeek}}};
  return all;
}

std::optional<Length> half_hour(Scan& scan) {
  if (!scan.take_any({"半个小时", "半个钟头", "半小时", "half an hour", "a half hour"})) return std::nullopt;
  return Length{kHalf};
}

// The half hours of 一个半小时 and of "1.5 hours".
bool take_point_five(Scan& scan) {
  Scan ahead = scan;
  if (!ahead.take(".5") && !ahead.take("and a half")) return false;
  scan = ahead;
  return true;
}

std::optional<Length> take_one_length(Scan& scan) {
  Scan ahead = scan;
  auto const number = ahead.take_number();
  if (!number && !ahead.take_any({"an", "a"})) return std::nullopt;
  auto const count = number ? number->value : 1;
  if (count > kMostLength) return std::nullopt;
  bool half = take_point_five(ahead);
  if (ahead.take("个")) half = ahead.take("半") || half;
  auto const unit = ahead.take_one(length_units());
  if (!unit || (half && unit->days > 0)) return std::nullopt;
  half = half || ahead.take("and a half");
  scan = ahead;
  return Length{count * unit->minutes + (half ? unit->minutes / 2 : 0), count * unit->days};
}

}  // namespace

std::optional<SaidTime> take_time(Scan& scan, BareHour bare, BareOne one) {
  Scan ahead = scan;
  ahead.skip_blanks();
  auto const from = ahead.at();
  auto part = take_chinese_part(ahead).value_or(DayPart::none);
  // 早一点 is "a little earlier", and 下午一点 is a time.
  constexpr std::string_view kOneCharacter = "早";
  if (part != DayPart::none) one = ahead.at() - from > kOneCharacter.size() ? BareOne::yes : BareOne::no;
  auto time = take_past(ahead);
  if (!time) time = take_named_time(ahead);
  if (!time) time = take_chinese_time(ahead, one);
  if (!time) time = take_english_time(ahead, part == DayPart::none ? bare : BareHour::no);
  if (!time && part == DayPart::noon) time = SaidTime{kNoon};
  if (!time) return std::nullopt;
  if (part == DayPart::none) part = take_english_part(ahead).value_or(DayPart::none);
  time->part = part;
  scan = ahead;
  return time;
}

namespace {

int minutes_in(DayPart part, int hour, int minute) {
  int const early = hour % kNoon;  // Twelve o'clock is zero.
  bool const small = hour <= kNoon;
  int const morning = hour * kMinutesOfHour + minute;
  int const later = (early + kNoon) * kMinutesOfHour + minute;
  switch (part) {
    case DayPart::night:
      return small ? early * kMinutesOfHour + minute : morning;
    case DayPart::noon:
      return hour <= 3 || hour == kNoon ? later : morning;
    case DayPart::afternoon:
      return small ? later : morning;
    case DayPart::evening:
      if (hour == kNoon || hour <= kLastHourOfNight) return kMinutesOfDay + early * kMinutesOfHour + minute;
      return small ? later : morning;
    case DayPart::morning:
    case DayPart::none:
      return morning;
  }
  return morning;
}

bool is_exact(SaidTime const& time) {
  return time.half != HalfDay::none || time.part != DayPart::none || time.leading_zero || time.hour > kNoon;
}

int as_half(SaidTime time, HalfDay half) {
  time.half = half;
  return minutes_of(time, DayPart::none);
}

}  // namespace

int minutes_of(SaidTime const& time, DayPart part) {
  if (time.half != HalfDay::none) {
    int const hour = time.hour % kNoon + (time.half == HalfDay::pm ? kNoon : 0);
    return hour * kMinutesOfHour + time.minute;
  }
  auto const own = time.part != DayPart::none ? time.part : part;
  bool const open =
      own == DayPart::none && !time.leading_zero && time.hour >= 1 && time.hour <= kLastEarlyHour;
  return minutes_in(open ? DayPart::afternoon : own, time.hour, time.minute);
}

Span minutes_of_span(SaidTime start, SaidTime end, DayPart part) {
  bool const ends_half = !is_exact(start) && part == DayPart::none && end.half != HalfDay::none;
  Span span{minutes_of(start, part), minutes_of(end, DayPart::none)};
  if (ends_half && as_half(start, end.half) < span.end) {
    span.start = as_half(start, end.half);
  } else if (ends_half) {
    span.start = as_half(start, HalfDay::am);
  }
  if (!is_exact(end)) {
    // The first such time after the start.
    span.end = end.hour % kNoon * kMinutesOfHour + end.minute;
    while (span.end <= span.start)
      span.end += kNoon * kMinutesOfHour;
  }
  if (span.end <= span.start) span.end += kMinutesOfDay;
  return span;
}

std::optional<Length> take_length(Scan& scan) {
  if (auto const half = half_hour(scan)) return half;
  auto length = take_one_length(scan);
  if (!length || length->minutes < kMinutesOfHour) return length;
  Scan ahead = scan;
  ahead.take_any({"and", "零"});
  auto const rest = take_one_length(ahead);
  if (rest && rest->days == 0 && rest->minutes < kMinutesOfHour) {
    scan = ahead;
    length->minutes += rest->minutes;
  }
  return length;
}

}  // namespace runnel::model
