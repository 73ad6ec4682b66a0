#include "runnel/model/builtin/offline_event_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runnel/core/text/text.h"
#include "runnel/model/builtin/offline_words.h"

namespace runnel::model {
namespace {

constexpr std::size_t kLongestTitle = 100;
constexpr std::size_t kLongestPlace = 40;
constexpr auto kNowhere = std::string_view::npos;

// --- Finding an event ---

// Longer ones first, where one begins like another.
WordList const& chinese_fillers() {
  static WordList const all{"那个", "这个", "那场", "这场", "所有", "全部", "我们", "一下",
                            "参加", "一个", "一场", "这次", "邀请", "关于", "一起", "和",
                            "跟",   "与",   "同",   "的",   "我",   "你",   "请",   "帮",
                            "把",   "将",   "吧",   "了",   "掉",   "给",   "是",   "在"};
  return all;
}

WordList const& english_fillers() {
  static WordList const all{"the", "my",  "our", "a",          "an",     "with",     "to",    "for",    "of",
                            "on",  "in",  "at",  "and",        "this",   "that",     "from",  "please", "by",
                            "it",  "all", "me",  "invitation", "invite", "calendar", "about", "s"};
  return all;
}

std::string without(std::string text, WordList const& fillers) {
  for (auto const& filler : fillers) {
    for (auto at = text.find(filler); at != std::string::npos; at = text.find(filler, at))
      text.replace(at, filler.size(), " ");
  }
  return text;
}

bool is_one_of(std::string_view word, WordList const& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Takes a noun off the end of a Chinese word: 评审会议 is 评审 and a meeting.
bool cut_noun(std::string& word, WordList const& nouns) {
  for (auto const& noun : nouns) {
    if (!word.ends_with(noun)) continue;
    word.resize(word.size() - noun.size());
    return true;
  }
  return false;
}

void add_term(EventWords& out, std::string word) {
  if (is_one_of(word, english_fillers())) return;
  if (is_one_of(word, {"meeting", "meetings"})) {
    out.meeting = true;
    return;
  }
  if (is_one_of(word, {"event", "events", "appointment", "appointments", "entry", "plans", "anything"})) {
    out.any = true;
    return;
  }
  out.meeting |= cut_noun(word, {"会议", "开会", "会"});
  out.any |= cut_noun(word, {"活动", "日程", "事件", "安排", "行程"});
  if (!word.empty()) out.terms.push_back(std::move(word));
}

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

std::string in_lower_case(std::string_view text) {
  std::string lower{text};
  for (auto& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return lower;
}

bool has_term(std::string_view title, std::string_view term) {
  for (auto at = title.find(term); at != kNowhere; at = title.find(term, at + 1)) {
    if (begins_word(title, at)) return true;
  }
  return false;
}

// --- Naming an event ---

WordList const& english_leading_words() {
  static WordList const all{"please",
                            "schedule",
                            "create",
                            "add",
                            "book",
                            "set up",
                            "arrange",
                            "plan",
                            "put",
                            "make",
                            "organize",
                            "organise",
                            "enter",
                            "block",
                            "remind me to",
                            "remind me about",
                            "remind me of",
                            "remember to",
                            "don't forget to",
                            "i have",
                            "can you",
                            "could you",
                            "would you",
                            "new",
                            "a",
                            "an",
                            "the",
                            "calendar event",
                            "event",
                            "called",
                            "titled",
                            "named",
                            "for",
                            "to my calendar",
                            ":"};
  return all;
}

WordList const& chinese_leading_words() {
  static WordList const all{"请",     "麻烦",   "帮我", "帮忙", "给我",   "替我",   "我要",   "我想",
                            "我们",   "安排个", "安排", "创建", "新建",   "添加",   "增加",   "加个",
                            "加一个", "约个",   "预约", "预定", "记得",   "别忘了", "提醒我", "提醒",
                            "一个",   "一场",   "一次", "一下", "日程",   "事件",   "要",     "我",
                            "有一个", "有个",   "叫",   "名为", "标题是", "标题",   "是",     "的"};
  return all;
}

WordList const& trailing_words() {
  static WordList const all{"to my calendar",
                            "on my calendar",
                            "in my calendar",
                            "to the calendar",
                            "on the calendar",
                            "in the calendar",
                            "please",
                            "event",
                            "at",
                            "on",
                            "in",
                            "for",
                            "from",
                            "to",
                            "的日程",
                            "到日历",
                            "到我的日历",
                            "吧",
                            "一下",
                            ",请",
                            ",麻烦",
                            ",记得",
                            "的"};
  return all;
}

std::string_view without_leading(std::string_view text, std::string_view lower) {
  Scan scan{lower};
  for (auto before = kNowhere; before != scan.at();) {
    before = scan.at();
    Scan ahead = scan;
    bool const taken = ahead.take_any(english_leading_words()) || ahead.take_any(chinese_leading_words());
    if (taken && !trimmed(ahead.rest()).empty()) scan = ahead;
  }
  return trimmed(text.substr(scan.at()));
}

std::string_view without_trailing(std::string_view text) {
  for (std::size_t before = 0; before != text.size();) {
    before = text.size();
    auto const lower = in_lower_case(text);
    for (auto const& word : trailing_words()) {
      if (lower.size() <= word.size() || !lower.ends_with(word)) continue;
      if (!begins_word(lower, lower.size() - word.size())) continue;
      text = trimmed(text.substr(0, lower.size() - word.size()));
      break;
    }
  }
  return text;
}

// Where a place ends.
std::size_t end_of_place(std::string_view text, WordList const& ends) {
  auto end = text.size();
  for (auto const& each : ends)
    end = std::min(end, text.find(each));
  return end;
}

struct Cut {
  std::size_t from = 0;  // Of the words that say that a place follows.
  std::size_t place = 0;
  std::size_t end = 0;
};

// In 现在 and 在线 no place is named.
bool is_other_word(std::string_view text, std::size_t at) {
  auto const before = text.substr(0, at);
  auto const behind = text.substr(at + std::string_view{"在"}.size());
  WordList const first{"现", "正", "存", "实"};
  WordList const last{"线", "职"};
  return std::any_of(first.begin(), first.end(), [&](auto each) { return before.ends_with(each); }) ||
         std::any_of(last.begin(), last.end(), [&](auto each) { return behind.starts_with(each); });
}

std::optional<Cut> find_chinese_place(std::string_view lower) {
  for (std::string_view const mark : {"地点是", "地点在", "地点:", "地点", "在"}) {
    auto const at = lower.find(mark);
    if (at == kNowhere || (mark == "在" && is_other_word(lower, at))) continue;
    auto const from = at + mark.size();
    auto const length = end_of_place(lower.substr(from), {"和", "跟", "与", "开", "吃", "见", "喝", "讨论",
                                                          "举行", "聊", "做", ",", ".", ";", " ", "上课"});
    if (length > 0) return Cut{at, from, from + length};
  }
  return std::nullopt;
}

std::optional<Cut> find_english_place(std::string_view lower) {
  for (std::string_view const mark : {" in ", " at "}) {
    auto const at = lower.rfind(mark);
    if (at == kNowhere) continue;
    auto const from = at + mark.size();
    auto const length =
        end_of_place(lower.substr(from), {",", ".", ";", " with ", " for ", " about ", " on "});
    if (length > 0) return Cut{at, from, from + length};
  }
  return std::nullopt;
}

std::string_view without_article(std::string_view place) {
  constexpr std::string_view kThe = "the ";
  if (in_lower_case(place).starts_with(kThe)) place.remove_prefix(kThe.size());
  return trimmed(place);
}

// Takes the place out of the words.
std::string take_place(OfflineText& words) {
  auto cut = find_chinese_place(words.lower);
  if (!cut) cut = find_english_place(words.lower);
  if (!cut) return {};
  auto const place = without_article(std::string_view{words.text}.substr(cut->place, cut->end - cut->place));
  if (place.empty() || count_code_points(place) > kLongestPlace) return {};
  std::string taken{place};
  words.text.erase(cut->from, cut->end - cut->from);
  words.lower.erase(cut->from, cut->end - cut->from);
  return taken;
}

}  // namespace

EventWords to_event_words(OfflineText const& words) {
  auto const text = without(words.lower, chinese_fillers());
  EventWords out;
  std::string word;
  for (char const c : text + " ") {
    if (is_word_byte(c)) {
      word += c;
    } else if (!word.empty()) {
      auto const whole = std::exchange(word, {});
      add_term(out, std::string{trimmed(whole)});
    }
  }
  return out;
}

bool may_be(EventWords const& words, std::string_view title, Strict strict) {
  auto const lower = in_lower_case(title);
  bool const all = std::all_of(words.terms.begin(), words.terms.end(),
                               [&](std::string const& term) { return has_term(lower, term); });
  if (!all || !words.meeting || strict == Strict::no) return all;
  return lower.find("会") != std::string::npos || has_term(lower, "meeting");
}

bool has_event_noun(std::string_view lower) {
  static WordList const english{
      "lunch",         "dinner",   "breakfast", "brunch",      "coffee",       "tea",       "drinks",
      "meeting",       "meetings", "call",      "appointment", "party",        "holiday",   "holidays",
      "vacation",      "birthday", "standup",   "stand-up",    "review",       "interview", "training",
      "workshop",      "class",    "lesson",    "gym",         "doctor",       "dentist",   "flight",
      "train",         "concert",  "movie",     "conference",  "demo",         "sync",      "retro",
      "retrospective", "planning", "yoga",      "exam",        "visit",        "trip",      "day off",
      "event",         "date",     "seminar",   "webinar",     "presentation", "session",   "1:1",
      "one-on-one",    "catch-up", "kickoff"};
  static WordList const chinese{
      "开会", "会议", "例会", "早会", "周会", "月会", "年会",   "晚会", "聚会", "约会", "宴会",
      "个会", "的会", "评审", "面试", "吃饭", "午饭", "午餐",   "晚饭", "晚餐", "早餐", "早饭",
      "喝茶", "咖啡", "见面", "看病", "体检", "看牙", "牙医",   "培训", "上课", "课程", "聚餐",
      "休假", "请假", "放假", "年假", "出差", "生日", "健身",   "跑步", "电影", "航班", "飞机",
      "火车", "高铁", "讨论", "汇报", "演示", "复盘", "拜访",   "考试", "打球", "瑜伽", "通话",
      "电话", "站会", "沟通", "对齐", "答辩", "讲座", "演唱会", "旅行", "游泳", "座谈"};
  return has_any(lower, english) || has_any(lower, chinese);
}

EventName to_event_name(OfflineText const& words) {
  auto left = words;
  EventName name;
  name.location = take_place(left);
  auto title = without_trailing(without_leading(left.text, left.lower));
  name.title = std::string{trimmed(first_code_points(title, kLongestTitle))};
  if (!name.title.empty() && name.title[0] >= 'a' && name.title[0] <= 'z')
    name.title[0] = static_cast<char>(name.title[0] - 0x20);
  return name;
}

}  // namespace runnel::model
