#include <algorithm>
#include <string>
#include <utility>

#include "runnel/core/text/text.h"
#include "runnel/model/builtin/offline_understanding.h"

// The part of the rules that is about questions, notes and invitations.
namespace runnel::model {
namespace {

constexpr std::size_t kLongestPerson = 60;

std::optional<OfflineText> behind_words(OfflineText const& words, WordList const& beginnings) {
  Scan scan{words.lower};
  if (!scan.take_any(beginnings)) return std::nullopt;
  return part_of(words, scan.at());
}

// `text` without the words, wherever they stand.
std::string cut_words(OfflineText const& words, WordList const& unwanted) {
  std::string lower = words.lower;
  std::string text = words.text;
  for (auto const& each : unwanted) {
    for (auto at = find_word(lower, each); at != std::string::npos; at = find_word(lower, each, at)) {
      lower.replace(at, each.size(), " ");
      text.replace(at, each.size(), " ");
    }
  }
  return text;
}

std::string one_blank_each(std::string_view text) {
  std::string out;
  for (char const c : text) {
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  return std::string{trimmed(out)};
}

// --- Contacts ---

WordList const& contact_nouns() {
  static WordList const all{"电话号码",  "手机号码", "电话",           "手机号",        "手机",
                            "号码",      "邮箱地址", "电子邮件",       "邮件地址",      "邮箱",
                            "联系方式",  "联系人",   "phone number",   "phone",         "number",
                            "telephone", "mobile",   "e-mail address", "email address", "e-mail",
                            "email",     "contact",  "contacts",       "mail address"};
  return all;
}

WordList const& contact_fillers() {
  static WordList const all{"查一下",      "查找",      "查查",    "查",         "找一下", "找",      "看看",
                            "搜索",        "告诉我",    "是多少",  "是什么",     "有没有", "多少",    "什么",
                            "信息",        "一下",      "的",      "是",         "吗",     "呢",      "有",
                            "叫",          "find",      "look up", "search for", "search", "show me", "show",
                            "get",         "give me",   "tell me", "what is",    "what's", "who is",  "who's",
                            "do you have", "do i have", "for",     "of",         "the",    "a",       "an",
                            "my",          "details",   "in",      "named",      "'s",     "and",     "or"};
  return all;
}

bool asks_for_person(Sentence const& sentence) {
  auto const lower = sentence.lower();
  bool const begins =
      Scan{lower}.take_any({"find", "look up", "search", "show", "get", "give me", "tell me", "what is",
                            "what's", "who is", "who's", "do you have", "查", "找", "搜", "告诉我", "看看"});
  // A number alone may be that of anything.
  auto nouns = contact_nouns();
  std::erase_if(nouns, [](std::string_view noun) { return noun == "number" || noun == "号码"; });
  return has_any(lower, nouns) && (begins || sentence.tone.asks ||
                                   has_any(lower, {"的电话", "的手机", "的邮箱", "的联系方式", "的号码"}));
}

// --- Reading ---

bool asks_in_chinese(Sentence const& sentence) {
  auto const lower = sentence.lower();
  bool const noun =
      has_any(lower, {"安排", "日程", "行程", "日历", "有会", "什么会", "哪些会", "会议", "开会", "例会",
                      "个会", "有事", "什么事", "有空", "空闲", "忙吗", "活动", "约会", "计划"});
  bool const asks = sentence.tone.asks || sentence.tone.yes_or_no ||
                    Scan{lower}.take_any(
                        {"查", "看", "显示", "列出", "打开", "告诉我", "我的日程", "我的日历", "我的安排"});
  bool const own = sentence.when.day || has_any(lower, {"我", "日程", "日历", "安排", "行程"});
  return noun && asks && own;
}

bool asks_in_english(Sentence const& sentence) {
  auto const lower = sentence.lower();
  if (has_any(lower, {"my calendar", "my schedule", "my agenda", "on the calendar", "my events",
                      "my meetings", "my appointments", "my plans"}))
    return sentence.tone.asks || sentence.tone.yes_or_no ||
           Scan{lower}.take_any(
               {"show", "list", "read", "check", "open", "display", "tell me", "give me", "look at", "my"});
  bool const free =
      has_any(lower, {"am i free", "am i busy", "do i have time", "are there any meetings", "any meetings",
                      "any events", "any appointments", "any plans", "is there anything"});
  if (free) return true;
  bool const about_me =
      has_any(lower, {"do i have", "have i got", "what's on", "what is on", "what's planned",
                      "what is planned", "what's happening", "what is happening", "anything on"});
  bool const speaks_of_events = sentence.when.day || has_event_noun(lower);
  if (about_me) return speaks_of_events;
  return Scan{lower}.take_any({"show", "list", "read", "check"}) &&
         has_any(lower, {"meetings", "events", "appointments"});
}

// "When is lunch with Wei?"
bool asks_when(Sentence const& sentence, Request& request) {
  auto const lower = sentence.lower();
  auto rest = behind_words(sentence.command.words, {"when is", "when's", "when are", "what time is"});
  bool const chinese = has_any(lower, {"什么时候", "几点", "什么时间", "哪天"}) &&
                       (has_event_noun(lower) || lower.find("会") != std::string_view::npos);
  if (!rest && !chinese) return false;
  OfflineText const words = rest.value_or(sentence.command.words);
  auto const left =
      cut_words(words, {"是", "在", "什么时候", "什么时间", "几点", "哪天", "开始", "举行", "呢"});
  auto const text = to_offline_text(left);
  if (!text) return false;
  request.when = read_when(*text, sentence.moment);
  auto const named = to_offline_text(request.when.rest);
  if (!named) return false;
  request.words = to_event_words(*named);
  if (request.words.terms.empty() && !request.words.meeting) return false;
  if (!chinese && !has_event_noun(lower)) return false;
  request.ask = Ask::find_event;
  return true;
}

// --- Invitations ---

bool speaks_of_invites(std::string_view lower) {
  return has_any(lower, {"邀请", "invitation", "invitations", "invite", "invites"});
}

bool answers_invite(Sentence const& sentence, Request& request) {
  if (!sentence.may_command() || sentence.tone.done) return false;
  auto const& words = sentence.command.words;
  auto rest = behind_words(words, {"accept", "接受", "同意", "答应"});
  request.ask = Ask::accept_invite;
  if (!rest) {
    rest = behind_words(words, {"reject", "decline", "refuse", "turn down", "拒绝", "谢绝", "婉拒"});
    request.ask = Ask::reject_invite;
  }
  if (!rest) return false;
  request.when = read_when(*rest, sentence.moment);
  auto const named = to_offline_text(request.when.rest);
  if (named) request.words = to_event_words(*named);
  return true;
}

// --- Notes ---

std::optional<OfflineText> to_be_noted(Sentence const& sentence) {
  return behind_words(sentence.command.words,
                      {"记住", "记下来", "记下", "记一下", "记着", "记得", "别忘了", "不要忘记",
                       "remember that", "remember to", "remember", "note down", "memorize",
                       "keep in mind that", "keep in mind", "don't forget that", "don't forget"});
}

// Whether there is something to note. In "remember me", 记住了 and "remember when we met" there is nothing.
bool says_what(std::string_view lower) {
  auto const what = trimmed(lower);
  WordList const nothing{"", "me", "us", "it", "this", "you", "我", "我们", "了", "了吗", "吗"};
  bool const empty = std::find(nothing.begin(), nothing.end(), what) != nothing.end();
  return !empty && (!begins_question(what) || what.find(':') != std::string_view::npos);
}

// 我喜欢喝茶 of 我喜欢喝茶吗.
OfflineText without_question(OfflineText const& words) {
  std::string_view left = trimmed(words.lower);
  auto const from = static_cast<std::size_t>(left.data() - words.lower.data());
  for (std::string_view const end : {"可以吗", "好吗", "行吗", "吗"}) {
    if (left.ends_with(end)) left = trimmed(left.substr(0, left.size() - end.size()));
  }
  return part_of(words, from, left.size());
}

// "Can you remember that I like tea?" asks for a note, and "Do you remember my birthday?" does not.
bool may_be_noted(Sentence const& sentence, Note const& note) {
  auto const& all = sentence.words.lower;
  auto const before = std::string_view{all}.substr(0, all.size() - sentence.lower().size());
  if (!says_what(note.value)) return false;
  auto const end = trimmed(sentence.lower());
  bool const asks_for_it = end.ends_with("好吗") || end.ends_with("可以吗") || end.ends_with("行吗");
  if (asks_for_it || has_any(before, {"请", "麻烦", "帮", "please"})) return true;
  if (Scan{sentence.lower()}.take("记得")) return false;
  bool const states = note.field != "notes" || has_any(note.value, {"是", "is", "are"}) ||
                      Scan{sentence.lower()}.take("remember that");
  return states && has_any(before, {"能", "可", "can", "could", "will", "would"});
}

}  // namespace

bool asks_to_recall(Sentence const& sentence, Request& request) {
  auto const& lower = sentence.words.lower;
  bool const english =
      has_any(lower, {"what do you remember", "what do you know about me", "do you remember anything",
                      "do you remember me", "what have you noted", "what did you note", "my memories",
                      "what have you remembered"});
  bool const chinese = has_any(lower, {"记得", "记住", "知道", "了解", "记忆", "记下"}) &&
                       has_any(lower, {"我"}) && has_any(lower, {"什么", "哪些", "多少", "看看", "查看"}) &&
                       !Scan{lower}.take_any({"请", "记住", "记下", "记得", "记一下"});
  bool const own = lower.find("你") != std::string::npos || lower.find("记忆") != std::string::npos;
  if (!english && (!chinese || !own)) return false;
  request.ask = Ask::recall;
  return true;
}

bool asks_to_remember(Sentence const& sentence, Request& request) {
  auto const rest = to_be_noted(sentence);
  if (!rest || sentence.tone.asks || !says_what(rest->lower)) return false;
  // 记得明天十点开会 is about the calendar.
  bool const reminds = Scan{sentence.lower()}.take_any({"记得", "别忘了", "remember to", "don't forget to"});
  if (reminds && (sentence.when.says_time() || sentence.when.reminder)) return false;
  if (reminds && rest->lower.ends_with('?')) return false;
  Scan scan{rest->lower};
  scan.take_any({":", ","});
  scan.skip_blanks();
  auto const said = part_of(*rest, scan.at());
  request.note = to_note(sentence.tone.yes_or_no ? without_question(said) : said);
  if (sentence.tone.yes_or_no && !may_be_noted(sentence, request.note)) return false;
  request.ask = Ask::remember;
  return true;
}

bool asks_about_invites(Sentence const& sentence, Request& request) {
  if (!speaks_of_invites(sentence.lower())) return false;
  if (answers_invite(sentence, request)) return true;
  request = Request{};
  bool const lists =
      sentence.tone.asks || sentence.tone.yes_or_no ||
      Scan{sentence.lower()}.take_any({"show", "list", "my", "查", "看", "列出", "显示", "我的", "any"});
  bool const own = has_any(sentence.lower(), {"我", "my", "i", "any", "查看", "列出", "看看", "显示",
                                              "pending", "invitations", "invites"});
  if (!lists || !own || asks_for_meaning(sentence.lower())) return false;
  request.ask = Ask::read_invites;
  return true;
}

bool asks_for_contact(Sentence const& sentence, Request& request) {
  auto const& when = sentence.when;
  if (when.says_time() || when.day || sentence.tone.unreal) return false;
  if (asks_for_meaning(sentence.lower()) && !has_any(sentence.lower(), {"的"})) return false;
  if (!asks_for_person(sentence)) return false;
  auto const without_nouns = cut_words(sentence.command.words, contact_nouns());
  auto const text = to_offline_text(without_nouns);
  if (!text) return false;
  request.ask = Ask::find_contact;
  request.person = one_blank_each(cut_words(*text, contact_fillers()));
  if (count_code_points(request.person) > kLongestPerson) request.person.clear();
  return true;
}

bool asks_to_read(Sentence const& sentence, Request& request) {
  if (asks_for_meaning(sentence.lower())) return false;
  if (asks_when(sentence, request)) return true;
  request = Request{};
  if (!asks_in_chinese(sentence) && !asks_in_english(sentence)) return false;
  request.ask = Ask::read_events;
  request.when = sentence.when;
  return true;
}

}  // namespace runnel::model
