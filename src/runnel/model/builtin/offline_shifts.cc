#include "runnel/model/builtin/offline_shifts.h"

#include "runnel/model/builtin/offline_times.h"

namespace runnel::model {
namespace {

std::int64_t minutes_in_all(Length const& length) {
  return length.minutes + length.days * kMinutesOfDay;
}

bool at_end_of_clause(Scan scan) {
  scan.skip_blanks();
  return scan.at_end() || scan.take_any({",", ".", ";", "!", "?", "、", "…"});
}

// 提前10分钟, 10分钟前.
std::optional<Length> take_chinese_before(Scan& scan) {
  Scan ahead = scan;
  bool const before = ahead.take_any({"提前", "提早", "开始之前", "开始前", "之前", "前"});
  auto const length = take_length(ahead);
  if (!length || (!before && !ahead.take_any({"之前", "以前", "前"}))) return std::nullopt;
  scan = ahead;
  return length;
}

// Behind that: 提醒我, 给我发个提醒.
bool take_chinese_reminding(Scan& scan) {
  Scan ahead = scan;
  bool me = ahead.take("给我");
  ahead.take_any({"发个", "发", "设置", "设个", "设", "加个"});
  if (!ahead.take_any({"提醒", "通知", "提示", "告诉", "叫"})) return false;
  me = ahead.take_any({"我们", "我"}) || me;
  while (ahead.take_any({"一下", "一声", "吧", "即可", "就行", "就好"})) {
  }
  if (!me && !at_end_of_clause(ahead)) return false;
  scan = ahead;
  return true;
}

std::optional<std::int64_t> take_chinese_reminder(Scan& scan) {
  Scan ahead = scan;
  auto const length = take_chinese_before(ahead);
  if (!length || !take_chinese_reminding(ahead)) return std::nullopt;
  scan = ahead;
  return minutes_in_all(*length);
}

WordList const& english_before() {
  static WordList const all{
      "before it starts", "before the start", "before that", "before it", "before", "beforehand",
      "in advance",       "ahead of",         "ahead",       "earlier",   "early",  "prior to"};
  return all;
}

// "with a 10 minute reminder".
std::optional<std::int64_t> take_with_reminder(Scan& scan) {
  Scan ahead = scan;
  if (!ahead.take("with")) return std::nullopt;
  ahead.take_any({"an", "a"});
  auto const length = take_length(ahead);
  if (!length || !ahead.take("reminder")) return std::nullopt;
  scan = ahead;
  return minutes_in_all(*length);
}

std::optional<std::int64_t> take_english_reminder(Scan& scan) {
  Scan ahead = scan;
  ahead.take("and");
  bool const begins = scan.at() == 0 && ahead.take_any({"set a reminder for", "set a reminder"});
  if (!begins && !ahead.take_any({"remind me", "notify me", "alert me", "with a reminder"}))
    return std::nullopt;
  ahead.take_any({"about it", "of it"});
  auto const length = take_length(ahead);
  if (!length || !ahead.take_any(english_before())) return std::nullopt;
  scan = ahead;
  return minutes_in_all(*length);
}

}  // namespace

std::optional<std::int64_t> take_reminder(Scan& scan) {
  auto minutes = take_chinese_reminder(scan);
  if (!minutes) minutes = take_english_reminder(scan);
  if (!minutes) minutes = take_with_reminder(scan);
  return minutes;
}

bool pass_shift(Scan& scan) {
  Scan ahead = scan;
  bool said = ahead.take_any({"提前", "提早", "推迟", "延后", "延迟"});
  bool const before = !said && ahead.take("前");
  auto const length = take_length(ahead);
  if (!length) return false;
  // 前三天 are the first three days.
  said = said || (before && length->days == 0);
  if (!said && !ahead.take_any({"之前", "以前", "前", "before", "early", "in advance", "beforehand"}))
    return false;
  scan = ahead;
  // 提前10分钟和1小时
  while (ahead.take_any({"和", "、", "或"}) && take_length(ahead))
    scan = ahead;
  return true;
}

bool ends_move(Scan scan) {
  while (scan.take_any({"吧",   "一下", "开始", "举行", "进行", "召开", "开", "再", "后", "之后",
                        "左右", "了",   "吗",   "呢",   "啊",   "呀",   "哦", "好", "行", "可以",
                        "即可", "谢谢", "你",   "您",   ",",    ".",    "!",  "?",  "、", "…"})) {
  }
  scan.skip_blanks();
  return scan.at_end();
}

}  // namespace runnel::model
