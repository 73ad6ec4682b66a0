#include "runnel/modules/calendar/cards/event_words.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "runnel/core/time/instant.h"
#include "runnel/modules/calendar/input.h"
#include "runnel/modules/calendar/repository.h"

namespace runnel::modules::calendar {

namespace {

using std::chrono::local_days;

constexpr std::array<char const*, 7> kWeekdays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<char const*, 7> kChineseWeekdays{"周日", "周一", "周二", "周三", "周四", "周五", "周六"};
constexpr std::array<char const*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr int kMinutesOfHour = 60;

std::string clock_time(int minute) {
  return fmt::format("{:02}:{:02}", minute / kMinutesOfHour, minute % kMinutesOfHour);
}

LocalMinute utc_minute(std::int64_t ms) {
  auto const days = std::chrono::floor<std::chrono::days>(std::chrono::milliseconds{ms});
  auto const rest = std::chrono::milliseconds{ms} - days;
  return {local_days{days}, static_cast<int>(rest.count() / kMinuteMs)};
}

}  // namespace

EventWords::EventWords(CardReader const& reader)
    : chinese_{reader.reads_chinese()}, zone_{Zone::find(reader.timezone)} {}

LocalMinute EventWords::local(std::int64_t ms) const {
  return zone_ ? zone_->at(ms) : utc_minute(ms);
}

std::string EventWords::day(local_days day) const {
  std::chrono::year_month_day const date{day};
  auto const weekday = std::chrono::weekday{day}.c_encoding();
  auto const year = static_cast<int>(date.year());
  auto const month = static_cast<unsigned>(date.month());
  auto const number = static_cast<unsigned>(date.day());
  if (chinese_) return fmt::format("{}年{}月{}日 {}", year, month, number, kChineseWeekdays.at(weekday));
  return fmt::format("{}, {} {} {}", kWeekdays.at(weekday), number, kMonths.at(month - 1), year);
}

std::string EventWords::on_days(local_days first, local_days last) const {
  auto const whole = pick(", all day", " 全天");
  if (first == last) return day(first) + whole;
  return day(first) + " – " + day(last) + whole;
}

std::string EventWords::at_times(std::int64_t start_ms, std::int64_t end_ms) const {
  auto const start = local(start_ms);
  auto const end = local(end_ms);
  auto const between = pick(", ", " ");
  auto text = day(start.day) + between + clock_time(start.minute);
  text += start.day == end.day ? "–" : " – " + day(end.day) + between;
  text += clock_time(end.minute);
  return zone_ ? text : text + " UTC";
}

std::string EventWords::when(boost::json::object const& event) const {
  auto const first = parse_day(text_of(event, "start_date"));
  if (first) return on_days(*first, parse_day(text_of(event, "end_date")).value_or(*first));
  auto const start = parse_instant(text_of(event, "start_at"));
  auto const end = parse_instant(text_of(event, "end_at"));
  return start && end ? at_times(*start, *end) : std::string{};
}

}  // namespace runnel::modules::calendar
