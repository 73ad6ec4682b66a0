#include "runnel/model/builtin/offline_days.h"

// The part of the days that is about weekdays.
namespace runnel::model {

namespace chrono = std::chrono;
using chrono::weekday;

Day coming_weekday(weekday wanted, Day from) {
  return from + (wanted - weekday{from});
}

bool take_week(Scan& scan) {
  return scan.take_any({"周", "星期", "礼拜"});
}

std::optional<weekday> take_chinese_weekday(Scan& scan) {
  static Meanings<weekday> const all{
      {"一", chrono::Monday}, {"二", chrono::Tuesday},  {"三", chrono::Wednesday}, {"四", chrono::Thursday},
      {"五", chrono::Friday}, {"六", chrono::Saturday}, {"日", chrono::Sunday},    {"天", chrono::Sunday}};
  // In 本周日程 and 每周一次 no weekday is named.
  if (Scan{scan}.take_any({"日程", "日历", "日常", "日期", "天气", "一个", "一次", "一些"}))
    return std::nullopt;
  return scan.take_one(all);
}

std::optional<weekday> take_english_weekday(Scan& scan) {
  static Meanings<weekday> const all{
      {"monday", chrono::Monday},        {"tuesday", chrono::Tuesday},    {"wednesday", chrono::Wednesday},
      {"thursday", chrono::Thursday},    {"friday", chrono::Friday},      {"saturday", chrono::Saturday},
      {"sunday", chrono::Sunday},        {"mondays", chrono::Monday},     {"tuesdays", chrono::Tuesday},
      {"wednesdays", chrono::Wednesday}, {"thursdays", chrono::Thursday}, {"fridays", chrono::Friday},
      {"saturdays", chrono::Saturday},   {"sundays", chrono::Sunday},     {"mon", chrono::Monday},
      {"tue", chrono::Tuesday},          {"tues", chrono::Tuesday},       {"wed", chrono::Wednesday},
      {"thu", chrono::Thursday},         {"thurs", chrono::Thursday},     {"fri", chrono::Friday}};
  return scan.take_one(all);
}

}  // namespace runnel::model
