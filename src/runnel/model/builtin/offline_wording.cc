#include "runnel/model/builtin/offline_wording.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "runnel/core/text/text.h"
#include "runnel/model/builtin/offline_words.h"

namespace runnel::model {

namespace chrono = std::chrono;

namespace {

constexpr std::size_t kLongestQuote = 80;
constexpr std::size_t kMostLines = 20;

constexpr std::array<Words, 7> kWeekdays{{{"Sunday", "周日"},
                                          {"Monday", "周一"},
                                          {"Tuesday", "周二"},
                                          {"Wednesday", "周三"},
                                          {"Thursday", "周四"},
                                          {"Friday", "周五"},
                                          {"Saturday", "周六"}}};
constexpr std::array<std::string_view, 12> kMonths{"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};

std::string clock_words(int minute) {
  return fmt::format("{:02}:{:02}", minute / kMinutesOfHour, minute % kMinutesOfHour);
}

// The value of a part of a rule, such as BYDAY.
std::string_view part_of_rule(std::string_view rule, std::string_view name) {
  auto const at = rule.find(name);
  if (at == std::string_view::npos) return {};
  auto const value = rule.substr(at + name.size());
  return value.substr(0, value.find(';'));
}

std::string weekdays_of_rule(std::string_view days, bool chinese) {
  constexpr std::array<std::string_view, 7> kNames{"SU", "MO", "TU", "WE", "TH", "FR", "SA"};
  std::string out;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    auto const day = (i + 1) % kNames.size();
    if (days.find(kNames.at(day)) == std::string_view::npos) continue;
    if (!out.empty()) out += chinese ? "、" : " and ";
    out += kWeekdays.at(day).in(chinese);
  }
  return out;
}

struct FailureWords {
  std::string_view code;
  Words words;
};
constexpr std::array<FailureWords, 16> kFailures{{
    {"INVALID_ACTION_INPUT", {"the tool did not accept the input", "工具不接受这个输入"}},
    {"NOT_FOUND", {"it does not exist any more", "它已经不存在"}},
    {"NO_SUCH_OCCURRENCE", {"it does not take place on that day any more", "那一天已经没有这个日程"}},
    {"NOT_ORGANIZER",
     {"it is another user's event, and only that user can change it", "这是别人的日程，只有组织者才能更改"}},
    {"TOO_MANY_RESULTS",
     {"there are too many events in this time; name a day", "这段时间的日程太多，请指定某一天"}},
    {"TOO_MANY_GUESTS", {"the event has too many guests", "参加的人太多"}},
    {"NO_MORE_INVITES", {"this person takes no more invitations at the moment", "对方目前不再接受新的邀请"}},
    {"CONFLICT", {"it was changed by somebody else at the same time", "它同时被别人改动了"}},
    {"STORAGE_QUOTA_EXCEEDED", {"your storage is full", "您的存储空间已满"}},
    {"APPROVAL_REJECTED", {"you did not approve it", "您没有批准"}},
    {"APPROVAL_EXPIRED", {"nobody approved it in time", "没有在规定时间内批准"}},
    {"METHOD_NOT_ALLOWED", {"this method is not allowed here", "这里不允许使用这个方法"}},
    {"UNKNOWN_METHOD", {"the tool has no such method", "工具没有这个方法"}},
    {"TOOL_TIMEOUT", {"the tool took too long", "工具超时"}},
    {"CANCELED", {"it was canceled", "已被取消"}},
    {"OUTCOME_UNKNOWN", {"the call was interrupted", "调用被中断"}},
}};

struct MissingWords {
  Missing missing;
  Words words;
};
constexpr std::array<MissingWords, 8> kMissing{{
    {Missing::time, {"When shall it be? Name a day and a time.", "请说明时间：哪一天、几点？"}},
    {Missing::title, {"What shall the event be called?", "这个日程叫什么？"}},
    {Missing::event,
     {"Which event do you mean? Name words of its title, or its day.",
      "您指的是哪个日程？请说出标题里的词或日期。"}},
    {Missing::person, {"Whom do you mean? Name the person.", "您指的是谁？请说出名字。"}},
    {Missing::possible_time,
     {"There is no such day or time. Which one do you mean?", "没有这样的日期或时间。您指的是什么时候？"}},
    {Missing::one_time,
     {"I read more than one time in that. Name a single one.", "这句话里有不止一个时间，请只说一个。"}},
    {Missing::time_to_come,
     {"That time has passed. Name one that is still to come.", "这个时间已经过去了，请说一个将来的时间。"}},
    {Missing::no_secret,
     {"I note no passwords or other secrets. Keep them in a password manager.",
      "我不会记下密码之类的机密信息，请用密码管理器保存。"}},
}};

constexpr Words kWholeRequest{
    "I work by rules and read each message on its own, so please write the whole request again, for "
    "example: ",
    "我按规则工作，每条消息单独理解，所以请把完整的请求再写一遍，例如："};

struct Suggested {
  Ask ask;
  std::array<Words, 3> words;
};
// The first of them is an example of its kind of request.
constexpr std::array<Suggested, 10> kSuggested{{
    {Ask::create_event,
     {{{"Lunch with Wei tomorrow at 12:30 for 45 minutes", "明天上午十点和王伟开会"},
       {"What do I have tomorrow?", "明天有什么安排？"},
       {"What do I have this week?", "这周有什么安排？"}}}},
    {Ask::read_events,
     {{{"What do I have this week?", "这周有什么安排？"},
       {"Lunch with Wei tomorrow at 12:30", "明天中午12点半和王伟吃午饭"},
       {"Do I have any invitations?", "我有哪些邀请？"}}}},
    {Ask::move_event,
     {{{"Move lunch tomorrow to 1pm", "把明天和王伟的会改到下午三点"},
       {"What do I have tomorrow?", "明天有什么安排？"},
       {"Cancel lunch tomorrow", "取消明天和王伟的会"}}}},
    {Ask::delete_event,
     {{{"Cancel lunch tomorrow", "取消明天和王伟的会"},
       {"What do I have tomorrow?", "明天有什么安排？"},
       {"What do I have this week?", "这周有什么安排？"}}}},
    {Ask::share_event,
     {{{"Invite Wei to lunch tomorrow", "邀请王伟参加明天的会"},
       {"What do I have tomorrow?", "明天有什么安排？"},
       {"Find Wei's e-mail", "王伟的邮箱是什么？"}}}},
    {Ask::accept_invite,
     {{{"Accept the invitation to lunch", "接受午饭的邀请"},
       {"Do I have any invitations?", "我有哪些邀请？"},
       {"What do I have this week?", "这周有什么安排？"}}}},
    {Ask::find_contact,
     {{{"Find Wei's e-mail", "王伟的电话是多少？"},
       {"Invite Wei to lunch tomorrow", "邀请王伟参加明天的会"},
       {"What do I have today?", "今天有什么安排？"}}}},
    {Ask::remember,
     {{{"Remember that I prefer mornings", "记住我喜欢喝茶"},
       {"What do you remember about me?", "你记得我什么？"},
       {"What do I have today?", "今天有什么安排？"}}}},
    {Ask::recall,
     {{{"What do you remember about me?", "你记得我什么？"},
       {"Remember that I prefer mornings", "记住我喜欢喝茶"},
       {"What do I have today?", "今天有什么安排？"}}}},
    {Ask::nothing,
     {{{"Lunch with Wei tomorrow at 12:30 for 45 minutes", "明天上午十点和王伟开会"},
       {"What do I have this week?", "这周有什么安排？"},
       {"Remember that I prefer mornings", "记住我喜欢喝茶"}}}},
}};

Ask like(Ask ask) {
  switch (ask) {
    case Ask::find_event:
      return Ask::read_events;
    case Ask::read_invites:
    case Ask::reject_invite:
      return Ask::accept_invite;
    default:
      return ask;
  }
}

}  // namespace

std::string quoted(std::string const& text, bool chinese) {
  return chinese ? "「" + text + "」" : "“" + text + "”";
}

std::string day_words(Day day, bool chinese) {
  chrono::year_month_day const date{day};
  auto const year = static_cast<int>(date.year());
  auto const month = static_cast<unsigned>(date.month());
  auto const number = static_cast<unsigned>(date.day());
  auto const weekday = kWeekdays.at(chrono::weekday{day}.c_encoding()).in(chinese);
  if (chinese) return fmt::format("{}年{}月{}日（{}）", year, month, number, weekday);
  return fmt::format("{} {} {} {}", weekday, number, kMonths.at(month - 1), year);
}

std::string span_words(FoundEvent const& event, Zone const& zone, bool chinese) {
  if (event.all_day) {
    auto const first = day_words(event.first, chinese);
    if (event.first == event.last) return first + (chinese ? "全天" : ", all day");
    return first + (chinese ? "至" : " to ") + day_words(event.last, chinese) +
           (chinese ? "全天" : ", all day");
  }
  auto const start = zone.at(event.start_ms);
  auto const end = zone.at(event.end_ms);
  auto const until = end.day == start.day ? "" : day_words(end.day, chinese) + (chinese ? "" : ", ");
  return fmt::format("{}{}{}–{}{}", day_words(start.day, chinese), chinese ? "" : ", ",
                     clock_words(start.minute), until, clock_words(end.minute));
}

std::string rule_words(std::string const& rule, bool chinese) {
  auto const frequency = part_of_rule(rule, "FREQ=");
  auto const days = weekdays_of_rule(part_of_rule(rule, "BYDAY="), chinese);
  auto const day_of_month = std::string{part_of_rule(rule, "BYMONTHDAY=")};
  bool const other = rule.find("INTERVAL=2") != std::string::npos;
  if (frequency == "DAILY") return chinese ? "每天" : "every day";
  if (frequency == "YEARLY") return chinese ? "每年" : "every year";
  if (frequency == "MONTHLY" && !day_of_month.empty())
    return chinese ? "每月" + day_of_month + "日" : "every month on day " + day_of_month;
  if (frequency == "MONTHLY") return chinese ? "每月" : "every month";
  if (frequency != "WEEKLY") return rule;
  auto weeks = Words{other ? "every other week" : "every week", other ? "每两周" : "每周"}.in(chinese);
  if (days.empty()) return weeks;
  return chinese ? weeks + "（" + days + "）" : weeks + " on " + days;
}

std::string event_words(FoundEvent const& event, Zone const& zone, bool chinese) {
  auto line = quoted(event.title, chinese) + (chinese ? "，" : ", ") + span_words(event, zone, chinese);
  if (!event.location.empty()) line += (chinese ? "，地点：" : ", at: ") + event.location;
  if (!event.rule.empty()) line += (chinese ? "，重复：" : ", repeated ") + rule_words(event.rule, chinese);
  if (!event.organizer.empty()) line += (chinese ? "，组织者：" : ", organized by ") + event.organizer;
  if (event.invite_status == "pending")
    line += chinese ? "（邀请，尚未答复）" : " (an invitation, not answered yet)";
  return line;
}

std::string list_words(std::vector<std::string> const& lines, bool chinese) {
  std::string out;
  for (std::size_t i = 0; i < lines.size() && i < kMostLines; ++i)
    out += "\n- " + lines[i];
  if (lines.size() <= kMostLines) return out;
  auto const rest = lines.size() - kMostLines;
  return out + (chinese ? fmt::format("\n……另外还有 {} 项。", rest) : fmt::format("\n… and {} more.", rest));
}

std::string self_words(std::string const& message, bool chinese) {
  auto const quote = quoted(shortened(message, kLongestQuote), chinese);
  auto const length = count_code_points(message);
  if (chinese) {
    return fmt::format(
        "你好！我是 Runnel "
        "内置的离线模型：一个按规则回答的小程序，不是大语言模型，也不会访问网络。你说的是{}（{} "
        "个字符）。我能按规则处理日历、联系人和记忆的请求，例如「明天上午十点和王伟开会」、「这周有什么安排？"
        "」或「"
        "记住我喜欢喝茶」。这次运行已经写入日志：断线、重启之后都可以从中断处继续读取。",
        quote, length);
  }
  return fmt::format(
      "Hello! I am Runnel's built-in offline model: a small program that answers by rules, not a language "
      "model, and "
      "I use no network. You wrote {} ({} characters). By my rules I can serve requests about the calendar, "
      "contacts "
      "and memory, such as “Lunch with Wei tomorrow at 12:30 for 45 minutes”, “What do I have this week?” or "
      "“Remember "
      "that I prefer mornings”. This run is in the log already: cut the connection or restart the server, "
      "and you can "
      "resume reading where you left off.",
      quote, length);
}

std::string example_of(Ask ask, bool chinese) {
  for (auto const& each : kSuggested) {
    if (each.ask == like(ask)) return each.words.front().in(chinese);
  }
  return {};
}

std::vector<std::string> suggestions(Ask ask, bool chinese) {
  std::vector<std::string> out;
  for (auto const& each : kSuggested) {
    if (each.ask != like(ask)) continue;
    for (auto const& words : each.words)
      out.push_back(words.in(chinese));
  }
  // What was just asked for need not be asked for again.
  if (ask != Ask::nothing) out.erase(out.begin());
  return out;
}

Reply ask_for(Missing missing, Ask ask, bool chinese) {
  Reply reply;
  reply.kind = ReplyKind::clarification;
  for (auto const& each : kMissing) {
    if (each.missing == missing) reply.text = each.words.in(chinese);
  }
  if (missing == Missing::no_secret) return reply;
  reply.text += (chinese ? "" : " ") + kWholeRequest.in(chinese) + quoted(example_of(ask, chinese), chinese) +
                (chinese ? "。" : ".");
  return reply;
}

Reply failure_reply(ToolResult const& result, bool chinese) {
  Reply reply;
  reply.status = ReplyStatus::failed;
  reply.kind = ReplyKind::error;
  auto why = Words{"the tool gave no answer that I can read", "工具的回答无法读取"}.in(chinese);
  if (!result.code.empty()) why = Words{"the tool failed", "工具出错"}.in(chinese);
  for (auto const& each : kFailures) {
    if (each.code == result.code) why = each.words.in(chinese);
  }
  if (!result.code.empty()) {
    auto const detail = result.reason.empty() ? result.code : result.code + ": " + result.reason;
    why += chinese ? "（" + detail + "）" : " (" + detail + ")";
  }
  reply.error = why;
  bool const unknown = result.code.empty() || result.code == "OUTCOME_UNKNOWN";
  if (unknown) {
    reply.text = chinese ? "我不知道这是否已经完成：" + why + "。"
                         : "I do not know whether that was done: " + why + ".";
  } else {
    reply.text = chinese ? "没有完成：" + why + "。" : "That was not done: " + why + ".";
  }
  return reply;
}

std::string no_tools_words(bool chinese) {
  return Words{"I have no tools here, so nothing was looked up or changed.",
               "我在这里没有工具，所以没有查询或更改任何内容。"}
      .in(chinese);
}

}  // namespace runnel::model
