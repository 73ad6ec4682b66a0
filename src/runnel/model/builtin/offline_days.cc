#include "runnel/model/builtin/offline_days.h"

#include <array>

namespace runnel::model {

namespace chrono = std::chrono;
using chrono::days;
using chrono::weekday;
using chrono::year_month_day;

namespace {

constexpr std::int64_t kMostDaysAhead = 4000;
constexpr int kFirstYear = 1970;
constexpr int kLastYear = 9998;

DayPhrase one_day(Day day) {
  DayPhrase phrase;
  phrase.first = phrase.last = day;
  return phrase;
}

DayPhrase no_such_day() {
  DayPhrase phrase;
  phrase.impossible = true;
  return phrase;
}

DayPhrase span_of(Day first, std::int64_t length) {
  DayPhrase phrase;
  phrase.first = first;
  phrase.last = first + days{length - 1};
  phrase.is_span = true;
  return phrase;
}

DayPhrase day_of(year_month_day date) {
  int const year{date.year()};
  bool const exists = date.ok() && year >= kFirstYear && year <= kLastYear;
  return exists ? one_day(Day{date}) : no_such_day();
}

// The types of <chrono> would cut larger numbers.
year_month_day date_of(Number const& year, Number const& month, Number const& day) {
  if (year.value > kLastYear || month.value > 12 || day.value > 31) return {};
  return {chrono::year{static_cast<int>(year.value)}, chrono::month{static_cast<unsigned>(month.value)},
          chrono::day{static_cast<unsigned>(day.value)}};
}

// The next such date on or after `from`. 29 February may be years ahead.
DayPhrase next_date(Number const& month, Number const& day, Day from) {
  constexpr int kLeapYears = 8;
  auto const first = static_cast<int>(year_month_day{from}.year());
  for (int year = first; year <= first + kLeapYears; ++year) {
    auto const date = date_of({year}, month, day);
    if (date.ok() && Day{date} >= from) return day_of(date);
  }
  return no_such_day();
}

Day monday_of(Day day) {
  return day - (weekday{day} - chrono::Monday);
}

// --- Dates with numbers ---

std::optional<DayPhrase> take_iso_date(Scan& scan) {
  for (char const* const mark : {"-", "/", "."}) {
    Scan ahead = scan;
    auto const year = ahead.take_digits();
    if (!year || year->value < 1000 || !ahead.take(mark)) continue;
    auto const month = ahead.take_digits();
    if (!month || !ahead.take(mark)) continue;
    auto const day = ahead.take_digits();
    if (!day) continue;
    scan = ahead;
    return day_of(date_of(*year, *month, *day));
  }
  return std::nullopt;
}

bool take_day_mark(Scan& scan) {
  Scan ahead = scan;
  if (!ahead.take("日") && !ahead.take("号")) return false;
  // 三号会议室 is no date.
  WordList const places{"会议", "楼", "线", "厅", "房", "院",   "门",
                        "桌",   "馆", "机", "店", "口", "教室", "室"};
  if (Scan{ahead}.take_any(places)) return false;
  scan = ahead;
  return true;
}

std::optional<DayPhrase> take_chinese_date(Scan& scan, Day today) {
  Scan ahead = scan;
  std::optional<Number> year = ahead.take_digits();
  if (year && !ahead.take("年")) {
    year.reset();
    ahead = scan;
  }
  bool const next_year = !year && ahead.take("明年");
  if (next_year) year = Number{static_cast<int>(year_month_day{today}.year()) + 1};
  auto const month = ahead.take_number();
  if (!month || !ahead.take("月")) return std::nullopt;
  auto const day = ahead.take_number();
  if (!day || !take_day_mark(ahead)) return std::nullopt;
  scan = ahead;
  return year ? day_of(date_of(*year, *month, *day)) : next_date(*month, *day, today);
}

Meanings<std::int64_t> const& month_names() {
  static Meanings<std::int64_t> const all{
      {"january", 1}, {"february", 2}, {"march", 3},     {"april", 4},    {"may", 5},       {"june", 6},
      {"july", 7},    {"august", 8},   {"september", 9}, {"october", 10}, {"november", 11}, {"december", 12},
      {"jan", 1},     {"feb", 2},      {"mar", 3},       {"apr", 4},      {"jun", 6},       {"jul", 7},
      {"aug", 8},     {"sept", 9},     {"sep", 9},       {"oct", 10},     {"nov", 11},      {"dec", 12}};
  return all;
}

bool take_ordinal(Scan& scan) {
  return scan.take_any({"st", "nd", "rd", "th"});
}

std::optional<Number> take_year(Scan& scan) {
  Scan ahead = scan;
  ahead.take(",");
  auto const year = ahead.take_digits();
  if (!year || year->value < 1000) return std::nullopt;
  scan = ahead;
  return year;
}

// "December 3rd, 2026", "3 December".
std::optional<DayPhrase> take_english_date(Scan& scan, Day today) {
  Scan ahead = scan;
  auto month = ahead.take_one(month_names());
  ahead.take(month ? "." : "the");
  auto const day = ahead.take_digits();
  if (!day || day->value > 99) return std::nullopt;
  take_ordinal(ahead);
  if (!month) {
    ahead.take("of");
    month = ahead.take_one(month_names());
  }
  if (!month) return std::nullopt;
  auto const year = take_year(ahead);
  scan = ahead;
  return year ? day_of(date_of(*year, {*month}, *day)) : next_date({*month}, *day, today);
}

// --- Days from today ---

struct NearDay {
  int days = 0;
  DayPart part = DayPart::none;
};

Meanings<NearDay> const& near_days() {
  static Meanings<NearDay> const all{{"今天", {0}},
                                     {"今日", {0}},
                                     {"今早", {0, DayPart::morning}},
                                     {"今晚", {0, DayPart::evening}},
                                     {"明天", {1}},
                                     {"明日", {1}},
                                     {"明早", {1, DayPart::morning}},
                                     {"明晚", {1, DayPart::evening}},
                                     {"大后天", {3}},
                                     {"后天", {2}},
                                     {"大前天", {-3}},
                                     {"前天", {-2}},
                                     {"昨天", {-1}},
                                     {"昨晚", {-1, DayPart::evening}},
                                     {"today", {0}},
                                     {"this morning", {0, DayPart::morning}},
                                     {"this afternoon", {0, DayPart::afternoon}},
                                     {"this evening", {0, DayPart::evening}},
                                     {"tonight", {0, DayPart::evening}},
                                     {"the day after tomorrow", {2}},
                                     {"day after tomorrow", {2}},
                                     {"tomorrow", {1}},
                                     {"yesterday", {-1}},
                                     {"last night", {-1, DayPart::evening}}};
  return all;
}

std::optional<DayPhrase> take_near_day(Scan& scan, Day today) {
  Scan ahead = scan;
  auto const near = ahead.take_one(near_days());
  if (!near) return std::nullopt;
  ahead.take("'s");
  scan = ahead;
  auto phrase = one_day(today + days{near->days});
  phrase.part = near->part;
  return phrase;
}

bool take_later(Scan& scan) {
  return scan.take_any({"之后", "以后", "后"});
}

std::optional<std::int64_t> take_days_or_weeks(Scan& scan) {
  auto const number = scan.take_number();
  if (!number && !scan.take_any({"a", "an"})) return std::nullopt;
  auto const count = number ? number->value : 1;
  if (scan.take("天") || scan.take_any({"days", "day"})) return count;
  scan.take("个");
  if (take_week(scan) || scan.take_any({"weeks", "week"})) return count * 7;
  return std::nullopt;
}

// "in three days", 两周后.
std::optional<DayPhrase> take_distance(Scan& scan, Day today) {
  Scan ahead = scan;
  bool const in = ahead.take("in");
  auto const distance = take_days_or_weeks(ahead);
  if (!distance || (!in && !take_later(ahead) && !ahead.take("from now"))) return std::nullopt;
  scan = ahead;
  auto const day = day_after(today, *distance);
  return day ? one_day(*day) : no_such_day();
}

// "the next 7 days", 未来三天.
std::optional<DayPhrase> take_next_days(Scan& scan, Day today) {
  Scan ahead = scan;
  if (!ahead.take_any({"未来", "接下来", "接下来的", "最近", "the next", "next"})) return std::nullopt;
  ahead.take("的");
  auto const length = take_days_or_weeks(ahead);
  if (!length || *length < 1 || !day_after(today, *length)) return std::nullopt;
  scan = ahead;
  return span_of(today, *length);
}

// --- Weeks and months ---

Meanings<int> const& chinese_weeks() {
  static Meanings<int> const all{{"下下个", 2}, {"下下", 2}, {"下个", 1},  {"下", 1}, {"这个", 0},
                                 {"这", 0},     {"本", 0},   {"上个", -1}, {"上", -1}};
  return all;
}

DayPhrase weekend_of(Day monday) {
  constexpr int kSaturday = 5;
  return span_of(monday + days{kSaturday}, 2);
}

// 下周一起吃饭 is no Monday, but 下周一起飞 is.
bool goes_on_together(Scan scan) {
  return scan.take("一起") && !scan.take_any({"床", "飞"});
}

// 下周三, 这个星期, 周末.
std::optional<DayPhrase> take_chinese_week(Scan& scan, Day today) {
  Scan ahead = scan;
  auto const which = ahead.take_one(chinese_weeks());
  if (!take_week(ahead)) return std::nullopt;
  auto const monday = monday_of(today) + days{7 * which.value_or(0)};
  if (ahead.take("末")) {
    scan = ahead;
    return weekend_of(monday);
  }
  auto const weekday = which && goes_on_together(ahead) ? std::nullopt : take_chinese_weekday(ahead);
  if (!weekday && !which) return std::nullopt;
  scan = ahead;
  if (!weekday) return span_of(monday, 7);
  if (which) return one_day(monday + (*weekday - chrono::Monday));
  auto phrase = one_day(coming_weekday(*weekday, today));
  phrase.coming = true;
  return phrase;
}

Meanings<int> const& english_weeks() {
  static Meanings<int> const all{
      {"the coming", 0}, {"this coming", 0}, {"this", 0}, {"next", 1}, {"last", -1}};
  return all;
}

// "next Wednesday", "this week", "Friday".
std::optional<DayPhrase> take_english_week(Scan& scan, Day today) {
  Scan ahead = scan;
  auto const which = ahead.take_one(english_weeks());
  auto const monday = monday_of(today) + days{7 * which.value_or(0)};
  std::optional<DayPhrase> phrase;
  if (which && ahead.take("week")) {
    phrase = span_of(monday, 7);
  } else if (ahead.take("weekend") || (!which && ahead.take("the weekend"))) {
    phrase = weekend_of(monday);
  } else if (auto const weekday = take_english_weekday(ahead)) {
    phrase = one_day(which ? monday + (*weekday - chrono::Monday) : coming_weekday(*weekday, today));
    phrase->coming = !which;
  }
  if (!phrase) return std::nullopt;
  ahead.take("'s");
  scan = ahead;
  return phrase;
}

std::optional<DayPhrase> take_month(Scan& scan, Day today) {
  static Meanings<int> const all{{"这个月", 0}, {"本月", 0},       {"下个月", 1},
                                 {"下月", 1},   {"this month", 0}, {"next month", 1}};
  Scan ahead = scan;
  auto const which = ahead.take_one(all);
  if (!which) return std::nullopt;
  year_month_day const date{today};
  auto const month = chrono::year_month{date.year(), date.month()} + chrono::months{*which};
  Day const first{month / 1};
  scan = ahead;
  // 下个月3号
  if (auto const day = take_day_of_month(scan, first)) return day;
  return span_of(first, (Day{month / chrono::last} - first).count() + 1);
}

}  // namespace

std::optional<Day> day_after(Day day, std::int64_t count) {
  if (count > kMostDaysAhead) return std::nullopt;
  return day + days{count};
}

std::optional<DayPart> take_english_part(Scan& scan) {
  static Meanings<DayPart> const all{
      {"in the morning", DayPart::morning}, {"in the afternoon", DayPart::afternoon},
      {"in the evening", DayPart::evening}, {"at night", DayPart::evening},
      {"morning", DayPart::morning},        {"afternoon", DayPart::afternoon},
      {"evening", DayPart::evening},        {"night", DayPart::evening}};
  return scan.take_one(all);
}

std::optional<DayPart> take_chinese_part(Scan& scan) {
  static Meanings<DayPart> const all{
      {"凌晨", DayPart::night},     {"清晨", DayPart::morning},   {"早上", DayPart::morning},
      {"早晨", DayPart::morning},   {"上午", DayPart::morning},   {"中午", DayPart::noon},
      {"下午", DayPart::afternoon}, {"午后", DayPart::afternoon}, {"傍晚", DayPart::evening},
      {"晚上", DayPart::evening},   {"夜里", DayPart::evening},   {"晚间", DayPart::evening},
      {"早", DayPart::morning},     {"晚", DayPart::evening}};
  return scan.take_one(all);
}

std::optional<DayPhrase> take_day_of_month(Scan& scan, Day from) {
  Scan ahead = scan;
  ahead.take("the");
  auto const number = ahead.take_number();
  if (!number) return std::nullopt;
  if (!take_day_mark(ahead) && !(number->in_digits && take_ordinal(ahead))) return std::nullopt;
  if (Scan{ahead}.take_any({"floor", "room", "round", "street", "avenue", "time"})) return std::nullopt;
  scan = ahead;
  constexpr int kMonths = 12;
  year_month_day const date{from};
  for (int later = 0; number->value <= 31 && later < kMonths; ++later) {
    auto const month = chrono::year_month{date.year(), date.month()} + chrono::months{later};
    auto const found = month / chrono::day{static_cast<unsigned>(number->value)};
    if (found.ok() && Day{found} >= from) return one_day(Day{found});
  }
  return no_such_day();
}

std::optional<DayPhrase> take_day(Scan& scan, Day today) {
  using Take = std::optional<DayPhrase> (*)(Scan&, Day);
  constexpr std::array<Take, 9> kTakes{&take_chinese_date, &take_english_date, &take_near_day,
                                       &take_distance,     &take_next_days,    &take_chinese_week,
                                       &take_english_week, &take_month,        &take_day_of_month};
  auto phrase = take_iso_date(scan);
  for (auto const take : kTakes) {
    if (!phrase) phrase = take(scan, today);
  }
  if (phrase && phrase->part == DayPart::none) phrase->part = take_english_part(scan).value_or(DayPart::none);
  return phrase;
}

}  // namespace runnel::model
