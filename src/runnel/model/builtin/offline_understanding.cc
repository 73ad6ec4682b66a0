#include "runnel/model/builtin/offline_understanding.h"

#include <algorithm>
#include <utility>

#include "runnel/core/text/text.h"
#include "runnel/model/builtin/offline_shifts.h"

namespace runnel::model {
namespace {

constexpr auto kNone = std::string::npos;
constexpr std::size_t kLongestMention = 40;
constexpr std::size_t kMostTargets = 2;  // Reading a time takes a while.

// What follows one of the words at the beginning.
std::optional<OfflineText> behind(OfflineText const& words, WordList const& verbs) {
  Scan scan{words.lower};
  if (!scan.take_any(verbs)) return std::nullopt;
  return part_of(words, scan.at());
}

// 把 begins a command. What has 了 in it is otherwise a report.
bool begins_with_object(Sentence const& sentence) {
  return Scan{sentence.lower()}.take_any({"把", "将"});
}

bool tells_what_is_done(Sentence const& sentence) {
  return sentence.tone.done && !begins_with_object(sentence);
}

void name_event(Request& request, OfflineText const& words, Moment const& moment) {
  request.when = read_when(words, moment);
  auto const rest = to_offline_text(request.when.rest);
  if (rest) request.words = to_event_words(*rest);
}

// 王伟把例会推迟一小时 tells what somebody does. `words` are those before the verb.
bool somebody_does(OfflineText const& words, Moment const& moment) {
  auto const rest = to_offline_text(read_when(words, moment).rest);
  if (!rest) return false;
  auto const command = without_politeness(*rest).words;
  Scan scan{command.lower};
  scan.take_any({"我们", "咱们", "我"});
  auto const at = command.lower.find("把");
  return at != kNone && at > scan.at();
}

// --- Sharing ---

struct Invitation {
  OfflineText person;
  OfflineText event;
};

// 王伟参加明天的会, "Wei to lunch".
std::optional<Invitation> split_at(OfflineText const& words, WordList const& marks) {
  for (auto const& mark : marks) {
    auto const at = find_word(words.lower, mark, 1);
    if (at == kNone) continue;
    return Invitation{part_of(words, 0, at), part_of(words, at + mark.size())};
  }
  return std::nullopt;
}

std::optional<Invitation> read_share(Sentence const& sentence) {
  auto const& words = sentence.command.words;
  if (auto const rest = behind(words, {"邀请"})) {
    auto const parts =
        split_at(*rest, {"来参加", "去参加", "参加", "加入", "出席", "一起", "来", "到", "去"});
    return parts ? parts : Invitation{*rest, {}};
  }
  if (auto const rest = behind(words, {"invite"})) {
    auto const parts = split_at(*rest, {"to", "for"});
    return parts ? parts : Invitation{*rest, {}};
  }
  if (auto const rest = behind(words, {"share"})) {
    if (auto const parts = split_at(*rest, {"with"})) return Invitation{parts->event, parts->person};
  }
  if (auto const rest = behind(words, {"把", "将"})) {
    if (auto const parts = split_at(*rest, {"分享给", "共享给"}))
      return Invitation{parts->event, parts->person};
  }
  return std::nullopt;
}

// --- Moving ---

WordList const& chinese_moves() {
  static WordList const all{"调整到", "推迟到", "延后到", "提前到", "移动到", "改到", "改为",
                            "改成",   "改在",   "挪到",   "移到",   "调到",   "延到", "换到"};
  return all;
}

bool is_time(When const& when) {
  return when.day || when.says_time() || when.impossible;
}

bool move_in_chinese(Sentence const& sentence, Request& request) {
  if (tells_what_is_done(sentence)) return false;
  auto const words = behind(sentence.command.words, {"把", "将"}).value_or(sentence.command.words);
  for (auto const& move : chinese_moves()) {
    auto const at = words.lower.find(move);
    if (at == kNone || somebody_does(part_of(words, 0, at), sentence.moment)) continue;
    name_event(request, part_of(words, 0, at), sentence.moment);
    request.target = read_when(part_of(words, at + move.size()), sentence.moment, BareStart::yes);
    return true;
  }
  WordList const others{"提醒", "通知", "应该", "可能", "也许", "或许"};
  for (auto const& [shift, sign] : Meanings<int>{{"推迟", 1}, {"延后", 1}, {"延迟", 1}, {"提前", -1}}) {
    auto const at = words.lower.find(shift);
    if (at == kNone) continue;
    Scan scan{words.lower, at + shift.size()};
    auto const length = take_length(scan);
    auto const event = part_of(words, 0, at);
    if (!length || !ends_move(scan) || has_any(event.lower, others)) continue;
    if (somebody_does(event, sentence.moment)) continue;
    name_event(request, event, sentence.moment);
    request.shift_minutes = sign * (length->minutes + length->days * kMinutesOfDay);
    return true;
  }
  return false;
}

// "lunch to Friday": what follows the first "to" that a time follows.
bool move_to_time(OfflineText const& words, Request& request, Moment const& moment) {
  std::size_t tried = 0;
  for (auto at = find_word(words.lower, "to"); at != kNone && tried < kMostTargets;
       at = find_word(words.lower, "to", at + 1), ++tried) {
    auto target = read_when(part_of(words, at + 2), moment, BareStart::yes);
    if (!is_time(target) && !target.ambiguous) continue;
    name_event(request, part_of(words, 0, at), moment);
    request.target = std::move(target);
    return true;
  }
  return false;
}

// "Bring lunch forward by 30 minutes".
bool brings_forward(Sentence const& sentence) {
  auto const rest = behind(sentence.command.words, {"bring"});
  return rest && has_any(rest->lower, {"forward"});
}

std::optional<OfflineText> behind_english_move(Sentence const& sentence) {
  auto const& words = sentence.command.words;
  if (brings_forward(sentence)) return behind(words, {"bring forward", "bring"});
  auto rest = behind(
      words, {"move", "reschedule", "postpone", "shift", "push back", "push", "put off", "change", "delay"});
  // "Put off-site meetings into my calendar".
  if (rest && rest->lower.starts_with('-')) return std::nullopt;
  return rest;
}

// The words of the event without those that say where it is moved to.
EventWords words_of_moved(Sentence const& sentence, OfflineText const& rest) {
  auto words = to_event_words(rest);
  bool const forward = brings_forward(sentence);
  bool const back = Scan{sentence.lower()}.take("push");
  std::erase_if(words.terms, [&](std::string const& term) {
    return term == "later" || term == "earlier" || (forward && term == "forward") || (back && term == "back");
  });
  return words;
}

bool move_in_english(Sentence const& sentence, Request& request) {
  auto const words = behind_english_move(sentence);
  if (!words) return false;
  if (move_to_time(*words, request, sentence.moment)) return true;
  auto when = read_when(*words, sentence.moment);
  auto const rest = to_offline_text(when.rest);
  if (!rest) return false;
  auto const lower = sentence.lower();
  bool const earlier = brings_forward(sentence) || has_any(lower, {"earlier"});
  bool const by = earlier || has_any(lower, {"by", "later", "postpone", "delay", "push", "put off"});
  bool const speaks_of_event = is_time(when) || has_event_noun(rest->lower);
  if (by && (when.length || when.days)) {
    auto const length = when.length.value_or(0) + when.days.value_or(0) * kMinutesOfDay;
    request.shift_minutes = earlier ? -length : length;
  } else if (!speaks_of_event) {
    return false;
  }
  when.length.reset();
  when.days.reset();
  request.when = std::move(when);
  request.words = words_of_moved(sentence, *rest);
  return true;
}

// --- Deleting ---

std::optional<OfflineText> delete_in_chinese(Sentence const& sentence) {
  WordList const verbs{"取消", "删除", "删掉", "去掉", "撤销"};
  auto const& words = sentence.command.words;
  if (tells_what_is_done(sentence)) return std::nullopt;
  if (auto rest = behind(words, verbs)) return rest;
  auto const object = behind(words, {"把", "将"});
  auto const rest = object.value_or(words);
  for (auto const& verb : verbs) {
    auto const at = rest.lower.rfind(verb);
    if (at == kNone) continue;
    auto const last = trimmed(std::string_view{rest.lower}.substr(at + verb.size()));
    bool const at_end = last.empty() || last == "吧" || last == "掉" || last == "一下" || last == "了" ||
                        last == "了吧" || last == "掉吧";
    bool const speaks_of_event = object || sentence.when.day || has_event_noun(sentence.lower());
    auto const event = part_of(rest, 0, at);
    if (at_end && speaks_of_event && !somebody_does(event, sentence.moment)) return event;
  }
  return std::nullopt;
}

// --- Creating ---

WordList const& sure_commands() {
  static WordList const all{"schedule", "remind me", "提醒我"};
  return all;
}

// Commands that may also be about other things than events.
WordList const& open_commands() {
  static WordList const all{
      "create",      "add",      "book",  "set up", "plan", "put",     "make",
      "organize",    "organise", "enter", "block",  "new",  "arrange", "don't forget to",
      "remember to", "创建",     "新建",  "添加",   "增加", "加一个",  "加个",
      "安排",        "预约",     "预定",  "约",     "提醒", "记得",    "别忘了"};
  return all;
}

// A sentence that begins like this mentions no event to come, or asks for something else.
WordList const& other_beginnings() {
  static WordList const all{
      "what",      "when",    "where",      "who",      "why",     "how",    "which",    "is",     "are",
      "was",       "were",    "do",         "does",     "did",     "has",    "have",     "had",    "i",
      "we",        "he",      "she",        "they",     "you",     "it",     "there",    "tell",   "write",
      "translate", "explain", "give",       "show",     "read",    "find",   "search",   "play",   "send",
      "buy",       "say",     "summarize",  "draw",     "count",   "list",   "describe", "define", "compare",
      "think",     "imagine", "invite",     "accept",   "decline", "reject", "cancel",   "delete", "remove",
      "forget",    "avoid",   "ignore",     "miss",     "missing", "thanks", "thank",    "sorry",  "any",
      "back",      "move",    "reschedule", "postpone", "翻译",    "写",     "解释",     "介绍",   "讲",
      "告诉",      "总结",    "画",         "有",       "我有",    "取消",   "删除",     "邀请",   "接受",
      "拒绝",      "查",      "搜索",       "搜",       "买",      "他",     "她"};
  return all;
}

// Whether a time without a day has passed today.
bool is_over_today(When const& when, Moment const& moment) {
  if (when.day || !when.start || when.impossible) return false;
  return instant_of(moment.zone, moment.today(), *when.start) < moment.now_ms;
}

// "Cancel the reminder 10 minutes before lunch" and 把明天的会提前10分钟提醒我 are about an event that
// exists.
bool changes_reminder(Sentence const& sentence) {
  WordList const changes{"cancel",     "delete",   "remove", "drop", "call off", "stop",   "move",
                         "reschedule", "postpone", "push",   "put",  "shift",    "change", "delay",
                         "bring",      "clear",    "取消",   "删除", "删掉",     "去掉",   "撤销",
                         "关闭",       "关掉",     "把",     "将"};
  return sentence.when.reminder && Scan{sentence.lower()}.take_any(changes);
}

// Whether the words mention an event to come without a command: "Lunch with Wei tomorrow at 12:30".
bool mentions_event(Sentence const& sentence) {
  auto const& when = sentence.when;
  auto const rest = to_offline_text(when.rest);
  if (!rest || sentence.tone.asks || sentence.tone.yes_or_no || sentence.tone.unreal || sentence.tone.done)
    return false;
  bool const whole_days = when.day && (when.all_day || when.days);
  if (!when.says_time() && !whole_days && !when.impossible) return false;
  if (when.day && when.day->last < sentence.moment.today()) return false;
  if (Scan{sentence.lower()}.take_any(other_beginnings()) || Scan{rest->lower}.take_any(other_beginnings()))
    return false;
  if (tells_of_event(rest->lower) || is_over_today(when, sentence.moment)) return false;
  if (changes_reminder(sentence)) return false;
  if (count_code_points(rest->text) > kLongestMention) return false;
  return has_event_noun(rest->lower) || rest->lower.ends_with("会");
}

WordList const& whole_day_words() {
  static WordList const all{"休假", "请假",     "放假",     "年假",    "生日",
                            "出差", "birthday", "vacation", "holiday", "day off"};
  return all;
}

// "Remind me what I have tomorrow".
bool asks_to_be_told(OfflineText const& rest) {
  auto const what = behind(rest, {"remind me"});
  return what && begins_question(what->lower);
}

// "Book club was great": a noun, and no command.
bool tells_of_thing(OfflineText const& rest) {
  auto const thing = behind(rest, {"book", "plan", "block", "new"});
  return thing && has_past_tense(thing->lower) &&
         !Scan{thing->lower}.take_any({"a", "an", "the", "my", "our", "me", "us"});
}

bool commands_event(Sentence const& sentence, OfflineText const& rest) {
  bool const forgets = Scan{sentence.lower()}.take_any({"别忘了", "don't forget to"});
  if (!sentence.may_command() && !forgets) return false;
  if (asks_to_be_told(rest) || tells_of_thing(rest)) return false;
  // 你能记得我喜欢喝茶吗
  if (sentence.tone.yes_or_no && Scan{sentence.lower()}.take("记得")) return false;
  if (sentence.when.reminder && !sentence.tone.done) return !changes_reminder(sentence);
  auto const begins = [&](WordList const& words) {
    return Scan{sentence.lower()}.take_any(words) || Scan{rest.lower}.take_any(words);
  };
  bool const speaks_of_time = sentence.when.day || sentence.when.says_time() || !sentence.when.rule.empty();
  bool const speaks_of_event = speaks_of_time || has_any(sentence.lower(), {"calendar", "日历", "日程"}) ||
                               has_event_noun(rest.lower) || rest.lower.ends_with("会");
  return begins(sure_commands()) || (speaks_of_event && begins(open_commands()));
}

}  // namespace

Sentence::Sentence(OfflineText all_words, Moment const& at_moment)
    : words{std::move(all_words)},
      command{without_politeness(words)},
      tone{tone_of(command.words.lower)},
      moment{at_moment},
      when{read_when(command.words, at_moment)} {}

bool asks_to_share(Sentence const& sentence, Request& request) {
  if (!sentence.may_command() || tells_what_is_done(sentence)) return false;
  auto const invitation = read_share(sentence);
  if (!invitation) return false;
  request.ask = Ask::share_event;
  request.person = trimmed(invitation->person.text);
  name_event(request, invitation->event, sentence.moment);
  // In "Invite Wei tomorrow", the day is the event's.
  if (invitation->event.text.empty()) {
    request.when = read_when(invitation->person, sentence.moment);
    request.person = request.when.rest;
  }
  return true;
}

bool asks_to_move(Sentence const& sentence, Request& request) {
  if (!sentence.may_command()) return false;
  if (!move_in_chinese(sentence, request) && !move_in_english(sentence, request)) return false;
  request.ask = Ask::move_event;
  return !request.when.reminder;
}

bool asks_to_delete(Sentence const& sentence, Request& request) {
  if (!sentence.may_command()) return false;
  auto rest = delete_in_chinese(sentence);
  if (!rest) rest = behind(sentence.command.words, {"cancel", "delete", "remove", "call off", "drop"});
  if (!rest || rest->lower.find("邀请") != kNone) return false;
  request.ask = Ask::delete_event;
  name_event(request, *rest, sentence.moment);
  return !request.when.reminder;
}

bool asks_to_create(Sentence const& sentence, Request& request) {
  auto when = sentence.when;
  auto rest = to_offline_text(when.rest);
  if (!rest) return false;
  // Behind a time there may be politeness again: 明天上午帮我安排一个会.
  rest = without_politeness(*rest).words;
  bool const whole_days = has_any(rest->lower, whole_day_words());
  if (when.day && !when.says_time() && whole_days) when.all_day = true;
  auto widened = sentence;
  widened.when = when;
  if (!commands_event(sentence, *rest) && !mentions_event(widened)) return false;
  request.ask = Ask::create_event;
  request.name = to_event_name(*rest);
  request.when = std::move(when);
  return true;
}

}  // namespace runnel::model
