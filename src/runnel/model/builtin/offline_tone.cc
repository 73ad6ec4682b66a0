#include "runnel/model/builtin/offline_tone.h"

#include <algorithm>

#include "runnel/model/builtin/offline_event_words.h"
#include "runnel/model/builtin/offline_times.h"

namespace runnel::model {
namespace {

WordList const& polite_words() {
  static WordList const all{"please",
                            "could you",
                            "can you",
                            "would you",
                            "will you",
                            "kindly",
                            "hey",
                            "hi",
                            "hello",
                            "i want to",
                            "i would like to",
                            "i'd like to",
                            "i need to",
                            "let's",
                            "help me",
                            "just",
                            "i want you to",
                            ",",
                            "请你",
                            "请",
                            "麻烦你",
                            "麻烦",
                            "帮忙",
                            "帮我",
                            "给我",
                            "替我",
                            "能不能",
                            "可不可以",
                            "能否",
                            "可否",
                            "可以",
                            "你能",
                            "你可以",
                            "能",
                            "我想要",
                            "我想",
                            "我要",
                            "你好",
                            "您好",
                            "你"};
  return all;
}

bool ends_with_any(std::string_view text, WordList const& ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view each) { return text.ends_with(each); });
}

// The "no" of "No. 5 room" and of "no later than". In "no 3 pm meeting" it is none of them.
bool is_harmless_no(std::string_view lower, std::size_t at) {
  constexpr std::string_view kNo = "no";
  Scan scan{lower, at + kNo.size()};
  if (Scan{scan}.take_any({"later", "sooner", "earlier", "more than", "less than", "rush", "hurry", "problem",
                           "worries", "matter", "doubt"}))
    return true;
  auto const before = trimmed(lower.substr(0, at));
  if (ends_with_any(before, {"phone", "mobile", "tel"})) return true;
  scan.take(".");
  Scan number = scan;
  return number.take_digits() && !take_time(scan, BareHour::no, BareOne::no);
}

bool says_no(std::string_view lower) {
  for (auto at = find_word(lower, "no"); at != std::string_view::npos; at = find_word(lower, "no", at + 1)) {
    if (!is_harmless_no(lower, at)) return true;
  }
  return false;
}

// Not in "skip-level meeting" and "remind me to skip lunch".
bool says_skip(std::string_view lower) {
  constexpr std::string_view kSkip = "skip";
  auto const at = find_word(lower, kSkip);
  if (at == std::string_view::npos || lower.substr(at + kSkip.size()).starts_with('-')) return false;
  return !ends_with_any(trimmed(lower.substr(0, at)), {"remind me to", "remember to"});
}

bool is_unreal(std::string_view lower) {
  static WordList const english{
      "not",      "don't",    "dont",      "never",   "can't",     "cannot",  "won't",   "didn't",
      "doesn't",  "isn't",    "aren't",    "wasn't",  "weren't",   "haven't", "hasn't",  "hadn't",
      "couldn't", "wouldn't", "shouldn't", "mustn't", "if",        "unless",  "without", "skipping",
      "nobody",   "nothing",  "none",      "unable",  "nevermind", "neither", "nor",     "forget about"};
  static WordList const chinese{"不",   "别",   "没",   "勿",   "无需", "如果", "要是", "假如",
                                "万一", "除非", "的话", "听说", "据说", "说",   "跳过"};
  return has_any(lower, english) || has_any(lower, chinese) || says_no(lower) || says_skip(lower);
}

// "Wei cancelled the meeting": a word that ends like a past tense.
bool ends_like_past(std::string_view lower) {
  constexpr std::size_t kShortest = 5;
  std::size_t length = 0;
  for (std::size_t at = 0; at <= lower.size(); ++at) {
    bool const letter = at < lower.size() && lower[at] >= 'a' && lower[at] <= 'z';
    if (!letter && length >= kShortest && lower.substr(0, at).ends_with("ed")) return true;
    length = letter ? length + 1 : 0;
  }
  return false;
}

bool tells_in_english(std::string_view lower) {
  static WordList const all{
      "is",           "are",           "has",         "have",       "will",      "says",      "would",
      "could",        "should",        "might",       "can",        "maybe",     "perhaps",   "ago",
      "very",         "busy",          "put off",     "too long",   "too late",  "too early", "too short",
      "running late", "late for",      "last time",   "last month", "last year", "ever",      "bit before",
      "bit after",    "little before", "little after"};
  return has_any(lower, all) || has_past_tense(lower) || ends_like_past(lower);
}

// A character that tells of an event, unless it belongs to another word: the characters before and behind it.
struct Telling {
  std::string_view character;
  WordList before;
  WordList behind;
};

std::vector<Telling> const& telling_characters() {
  static std::vector<Telling> const all{
      {"改", {"整", "修", "批"}, {"革", "善", "进", "版", "造", "稿", "编", "装", "良"}},
      {"太", {"太", "老"}, {"太", "极", "阳", "原", "空", "湖", "平", "古", "子"}},
      {"真", {"传", "写", "认", "仿", "逼", "天"}, {"人", "题", "相", "丝"}}};
  return all;
}

bool tells_by(Telling const& telling, std::string_view lower) {
  auto const& [character, before, behind] = telling;
  for (auto at = lower.find(character); at != std::string_view::npos; at = lower.find(character, at + 1)) {
    if (!ends_with_any(lower.substr(0, at), before) && !Scan{lower, at + character.size()}.take_any(behind))
      return true;
  }
  return false;
}

// 的会很无聊: behind the meeting, something is told of it.
bool goes_on_behind_meeting(std::string_view lower) {
  constexpr std::string_view kMeeting = "的会";
  auto const at = lower.find(kMeeting);
  if (at == std::string_view::npos) return false;
  Scan scan{lower, at + kMeeting.size()};
  if (scan.at_end() || static_cast<unsigned char>(scan.rest().front()) < 0x80U) return false;
  return !scan.take_any({"议",   "在",   "和",   "跟",   "与",   "同", "请", "吧", "讨论", "关于",
                         "主题", "议题", "地点", "开始", "举行", "开", "室", "谈", "面",   "诊",
                         "客",   "员",   "计",   "展",   "餐",   "演", "场", "所", "馆",   "长",
                         "前",   "后",   "考",   "试",   "、",   "“",  "「", "…"});
}

// 王伟提醒我开会: somebody has said so.
bool tells_who_said(std::string_view lower) {
  for (std::string_view const verb : {"提醒我", "通知我", "告诉我", "叫我", "让我", "要我"}) {
    auto const at = lower.find(verb);
    if (at != std::string_view::npos && !may_ask_behind(lower.substr(0, at))) return true;
  }
  return false;
}

bool tells_in_chinese(std::string_view lower) {
  static WordList const all{
      "推迟",   "延期",   "延后", "延迟", "延误", "推后",   "往后",   "往前",   "顺延", "延长", "缩短",
      "取消",   "撤销",   "作废", "停课", "停会", "休会",   "免会",   "无会",   "无课", "禁止", "错过",
      "缺席",   "迟到",   "很",   "非常", "挺",   "好累",   "好烦",   "好长",   "无聊", "顺利", "辛苦",
      "开完",   "开过",   "上次", "上回", "上月", "上个月", "去年",   "前年",   "当时", "曾经", "原定",
      "原本",   "本来",   "可能", "也许", "或许", "觉得",   "以为",   "希望",   "好像", "还是", "晚一点",
      "早一点", "晚点开", "天前", "周前", "月前", "小时前", "分钟前", "我记得", "想起"};
  auto const& characters = telling_characters();
  return has_any(lower, all) || goes_on_behind_meeting(lower) || tells_who_said(lower) ||
         std::any_of(characters.begin(), characters.end(),
                     [&](Telling const& each) { return tells_by(each, lower); });
}

}  // namespace

Politeness without_politeness(OfflineText const& words) {
  Scan scan{words.lower};
  bool polite = false;
  while (scan.take_any(polite_words()))
    polite = true;
  scan.skip_blanks();
  return {part_of(words, scan.at()), polite};
}

Tone tone_of(std::string_view lower) {
  Tone tone;
  Scan first{lower};
  tone.asks =
      first.take_any(
          {"what", "what's", "when", "when's", "where", "who", "who's", "why", "how", "which", "whose"}) ||
      has_any(lower, {"什么", "怎么", "为什么", "为何", "多少", "谁", "如何", "哪", "几点", "几号", "几个"});
  Scan verb{lower};
  tone.yes_or_no = lower.find('?') != std::string_view::npos ||
                   has_any(lower, {"吗", "是否", "有没有", "是不是", "对吧", "是吧"}) ||
                   verb.take_any({"do", "does", "did", "is", "are", "was", "were", "am", "have", "has",
                                  "should", "may", "shall"});
  tone.unreal = is_unreal(lower);
  tone.done =
      has_any(lower, {"已经", "刚才", "刚刚", "了", "过了", "被", "had", "was", "were", "did", "been"});
  return tone;
}

bool tells_of_event(std::string_view lower) {
  return tells_in_english(lower) || tells_in_chinese(lower);
}

bool may_ask_behind(std::string_view before) {
  while (before.ends_with(' '))
    before.remove_suffix(1);
  static WordList const harmless{",",    ".",    ";",      ":",    "(",      "!",    "?",    "、",
                                 "请",   "前",   "时",     "后",   "候",     "点",   "要",   "再",
                                 "也",   "务必", "一定",   "记得", "麻烦",   "帮我", "顺便", "及时",
                                 "按时", "准时", "别忘了", "and",  "please", "just", "then", "also"};
  return before.empty() || ends_with_any(before, harmless) || has_event_noun(before);
}

bool has_past_tense(std::string_view lower) {
  static WordList const all{"was",   "were",    "had",   "did",    "went",    "took",   "ran",   "felt",
                            "got",   "began",   "ended", "came",   "left",    "made",   "met",   "saw",
                            "told",  "said",    "gave",  "kept",   "lost",    "held",   "sat",   "spoke",
                            "spent", "thought", "knew",  "found",  "brought", "became", "broke", "chose",
                            "ate",   "drank",   "fell",  "forgot", "heard",   "sent",   "slept", "stood",
                            "wrote", "overran", "flew",  "gone",   "done",    "been"};
  return has_any(lower, all);
}

bool begins_question(std::string_view lower) {
  return Scan{lower}.take_any({"what", "what's", "when", "where", "who", "who's", "whom", "whose", "why",
                               "how", "which", "if", "whether", "the time we", "the time i",
                               "the time when"});
}

bool asks_for_meaning(std::string_view lower) {
  return has_any(lower, {"什么是", "是什么意思", "怎么", "如何", "为什么", "为何", "how do", "how to",
                         "how does", "what is a", "what is an", "what are", "what's a", "what's an",
                         "explain", "define", "mean", "means", "why"}) ||
         lower.ends_with("是什么") || lower.ends_with("是什么?");
}

}  // namespace runnel::model
