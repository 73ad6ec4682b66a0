#include "runnel/model/builtin/offline_dates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "runnel/core/text/text.h"
#include "runnel/model/builtin/offline_repetition.h"
#include "runnel/model/builtin/offline_shifts.h"
#include "runnel/model/builtin/offline_tone.h"

namespace runnel::model {

namespace chrono = std::chrono;

namespace {

bool is_wide_byte(char c) {
  return (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// What is left of the words when a phrase is taken out of the middle. Between two Chinese characters, no
// blank is needed.
void append_rest(std::string& out, std::string_view piece) {
  while (!piece.empty() && piece.front() == ' ')
    piece.remove_prefix(1);
  if (piece.empty()) return;
  while (!out.empty() && out.back() == ' ')
    out.pop_back();
  bool const joins = out.empty() || (is_wide_byte(out.back()) && is_wide_byte(piece.front()));
  if (!joins) out += ' ';
  out += piece;
}

// Reads a text from left to right, and takes each phrase about a time out of it.
class WhenReader {
 public:
  WhenReader(OfflineText const& words, Moment const& moment, BareStart bare)
      : words_{words}, today_{moment.today()}, moment_{moment}, bare_start_{bare == BareStart::yes} {}

  When read() {
    Scan scan{words_.lower};
    std::size_t kept = 0;
    scan.skip_blanks();
    bare_from_ = scan.at();
    for (; !scan.at_end(); scan.skip_blanks()) {
      auto const from = scan.at();
      bool const may = may_begin(from);
      if (may && take_phrase(scan)) {
        append_rest(out_.rest, std::string_view{words_.text}.substr(kept, from - kept));
        kept = scan.at();
      } else if (!may || !pass_shift(scan)) {
        scan.step();
      }
    }
    append_rest(out_.rest, std::string_view{words_.text}.substr(kept));
    finish();
    return std::move(out_);
  }

 private:
  // Whether a phrase about a time may begin here. Most characters begin none, and are passed by quickly.
  [[nodiscard]] bool may_begin(std::size_t at) const {
    constexpr std::string_view kBeginnings =
        "今明大后前昨未接最下这本上周星礼凌清早中午傍晚夜每工全一整二两三四五六七八九十零〇半在于从"
        "提推延开之";
    if (!is_wide_byte(words_.lower[at])) return begins_word(words_.lower, at);
    auto const length = std::max<std::size_t>(utf8_sequence(words_.lower, at), 1);
    return kBeginnings.find(std::string_view{words_.lower}.substr(at, length)) != std::string_view::npos;
  }

  bool take_phrase(Scan& scan) {
    if (take_reminding(scan)) return true;
    Scan shift = scan;
    shift.take(",");
    if (pass_shift(shift)) return false;
    bool const begins = bare_start_ && scan.at() == bare_from_;
    one_ = begins || is_behind_day(scan.at()) ? BareOne::yes : BareOne::no;
    Scan ahead = scan;
    bool const bare = take_preposition(ahead) || begins;
    bool const taken = take_repeated(ahead) || take_all_day(ahead) || take_from_now(ahead) ||
                       take_days(ahead) || take_duration(ahead) ||
                       take_times(ahead, bare ? BareHour::yes : BareHour::no) || take_part(ahead);
    if (taken) scan = ahead;
    return taken;
  }

  // Whether a number alone is a time behind it.
  bool take_preposition(Scan& scan) {
    if (scan.take_any({"在", "于", "从"})) {
      one_ = BareOne::yes;
    } else {
      scan.take_any({",", "starting", "on", "for"});
    }
    between_ = scan.take("between");
    return scan.take_any({"at", "from", "around", "about", "by", "until", "@"}) || between_;
  }

  // Whether what was read last is a day or a part of one. 明早一点 may be "a little earlier".
  [[nodiscard]] bool is_behind_day(std::size_t at) const {
    auto const before = std::string_view{words_.lower}.substr(0, day_end_);
    Scan gap{words_.lower, day_end_};
    gap.skip_blanks();
    return day_end_ > 0 && gap.at() == at && !before.ends_with("早");
  }

  bool take_reminding(Scan& scan) {
    Scan ahead = scan;
    // 开会, 会前10分钟提醒我
    if (ahead.take(",")) ahead.take("会");
    auto const minutes = take_reminder(ahead);
    if (!minutes) return false;
    bool const comma = words_.lower[scan.at()] == ',';
    // Not in 王伟提前10分钟提醒我.
    if (!start_ && !comma && !may_ask_behind(std::string_view{words_.lower}.substr(0, scan.at())))
      return false;
    scan = ahead;
    out_.ambiguous |= out_.reminder.has_value();
    out_.reminder = minutes;
    return true;
  }

  bool take_repeated(Scan& scan) {
    auto const repetition = take_repetition(scan);
    if (!repetition) return false;
    out_.ambiguous |= repetition_.has_value();
    repetition_ = repetition;
    day_end_ = scan.at();
    return true;
  }

  bool take_all_day(Scan& scan) {
    bool const taken =
        scan.take_any({"全天", "一整天", "整天", "all day", "all-day", "the whole day", "whole day"});
    out_.all_day |= taken;
    return taken;
  }

  bool take_from_now(Scan& scan) {
    Scan ahead = scan;
    bool const in = ahead.take("in");
    auto const length = take_length(ahead);
    if (!length || length->days > 0) return false;
    if (!in && !ahead.take_any({"之后", "以后", "后", "from now"})) return false;
    scan = ahead;
    out_.ambiguous |= out_.from_now_ms.has_value();
    out_.from_now_ms = (moment_.now_ms / kMinuteMs + length->minutes) * kMinuteMs;
    return true;
  }

  bool take_days(Scan& scan) {
    auto phrase = take_day(scan, today_);
    if (!phrase) return false;
    if (!phrase->is_span && !phrase->impossible) take_last_day(scan, *phrase);
    out_.ambiguous |= out_.day.has_value();
    out_.impossible |= phrase->impossible;
    if (!out_.day) out_.day = phrase;
    day_end_ = scan.at();
    return true;
  }

  static void take_last_day(Scan& scan, DayPhrase& phrase) {
    Scan ahead = scan;
    if (!ahead.take_any({"到", "至", "-", "~", "to", "until", "through"})) return;
    auto last = take_day(ahead, phrase.first);
    if (!last || last->is_span || last->impossible || last->first <= phrase.first) return;
    phrase.last = last->last;
    phrase.is_span = true;
    scan = ahead;
  }

  bool take_end(Scan& scan, SaidTime& end, BareHour bare) const {
    Scan ahead = scan;
    bool const connected =
        ahead.take_any({"到", "至", "-", "~", "to", "until", "till"}) || (between_ && ahead.take("and"));
    auto const time = connected ? take_time(ahead, bare, BareOne::yes) : std::nullopt;
    if (!time) return false;
    end = *time;
    scan = ahead;
    return true;
  }

  bool take_times(Scan& scan, BareHour bare) {
    Scan ahead = scan;
    SaidTime end;
    bool has_end = false;
    auto start = take_time(ahead, bare, one_);
    if (start) {
      has_end = take_end(ahead, end, BareHour::yes);
    } else {
      // "3-4 pm"
      start = take_time(ahead, BareHour::yes, BareOne::yes);
      has_end = start && take_end(ahead, end, BareHour::no);
      if (!has_end) return false;
    }
    scan = ahead;
    out_.ambiguous |= start_.has_value();
    out_.impossible |= start->impossible || end.impossible;
    start_ = start;
    if (has_end) end_ = end;
    return true;
  }

  bool take_duration(Scan& scan) {
    auto const length = take_length(scan);
    if (!length) return false;
    out_.ambiguous |= out_.length || out_.days;
    if (length->days > 0) {
      out_.days = length->days;
    } else {
      out_.length = length->minutes;
    }
    return true;
  }

  bool take_part(Scan& scan) {
    Scan ahead = scan;
    // 早餐 and 晚会 are no parts of a day.
    if (!ahead.take_any({"早上", "早晨", "上午", "中午", "下午", "傍晚", "晚上", "凌晨", "in the morning",
                         "in the afternoon", "in the evening", "at night"}))
      return false;
    part_ = take_chinese_part(scan).value_or(DayPart::none);
    if (part_ == DayPart::none) part_ = take_english_part(scan).value_or(DayPart::none);
    day_end_ = scan.at();
    return true;
  }

  void finish() {
    if (out_.day && part_ == DayPart::none) part_ = out_.day->part;
    if (start_ && end_) {
      auto const span = minutes_of_span(*start_, *end_, part_);
      out_.start = span.start;
      out_.end = span.end;
    } else if (start_) {
      out_.start = minutes_of(*start_, part_);
    }
    if (repetition_) finish_repetition();
    if (out_.day && out_.day->coming && out_.day->first == today_ && out_.start && has_passed(*out_.start))
      out_.day->first = out_.day->last = today_ + chrono::days{7};
    out_.rest = std::string{trimmed(out_.rest)};
  }

  void finish_repetition() {
    out_.rule = repetition_->rule;
    auto from = out_.day ? out_.day->first : today_;
    if (!out_.day && out_.start && has_passed(*out_.start)) from += chrono::days{1};
    DayPhrase first;
    first.first = first.last = first_day(*repetition_, from);
    if (!out_.day || !repetition_->weekdays.empty()) out_.day = first;
  }

  [[nodiscard]] bool has_passed(int minutes) const {
    return instant_of(moment_.zone, today_, minutes) <= moment_.now_ms;
  }

  OfflineText const& words_;
  Day today_;
  Moment const& moment_;
  bool bare_start_;
  std::size_t bare_from_ = 0;
  std::size_t day_end_ = 0;  // Behind the last day or part of a day that was read.
  BareOne one_ = BareOne::no;
  bool between_ = false;
  std::optional<Repetition> repetition_;
  std::optional<SaidTime> start_;
  std::optional<SaidTime> end_;
  DayPart part_ = DayPart::none;
  When out_;
};

// From 1970 on, for every zone.
std::int64_t local_minutes(LocalMinute const& local) {
  return local.day.time_since_epoch().count() * std::int64_t{kMinutesOfDay} + local.minute;
}

}  // namespace

When read_when(OfflineText const& words, Moment const& moment, BareStart bare) {
  return WhenReader{words, moment, bare}.read();
}

std::int64_t instant_of(Zone const& zone, Day day, std::int64_t minutes) {
  day += chrono::days{minutes / kMinutesOfDay};
  minutes %= kMinutesOfDay;
  auto const wanted = local_minutes({day, static_cast<int>(minutes)});
  auto const guess = zone.day_begins(day) + minutes * kMinuteMs;
  auto const corrected = guess + (wanted - local_minutes(zone.at(guess))) * kMinuteMs;
  return local_minutes(zone.at(corrected)) == wanted ? corrected : guess;
}

std::string to_date(Day day) {
  chrono::year_month_day const date{day};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string to_local_rfc3339(Zone const& zone, std::int64_t ms) {
  auto const local = zone.at(ms);
  auto const offset = local_minutes(local) - ms / kMinuteMs;
  auto const size = std::abs(offset);
  return fmt::format("{}T{:02}:{:02}:00{}{:02}:{:02}", to_date(local.day), local.minute / kMinutesOfHour,
                     local.minute % kMinutesOfHour, offset < 0 ? '-' : '+', size / kMinutesOfHour,
                     size % kMinutesOfHour);
}

}  // namespace runnel::model
