#include "runnel/model/builtin/offline_reports.h"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <array>
#include <utility>

#include "runnel/core/json/members.h"

namespace runnel::model {

namespace json = boost::json;

namespace {

struct FieldWords {
  std::string_view field;
  Words words;
};
constexpr std::array<FieldWords, 18> kFields{{{"preferred_name", {"name", "称呼"}},
                                              {"about", {"about you", "关于您"}},
                                              {"likes", {"likes", "喜欢"}},
                                              {"dislikes", {"dislikes", "不喜欢"}},
                                              {"people", {"people", "认识的人"}},
                                              {"dates", {"dates", "日期"}},
                                              {"habits", {"habits", "习惯"}},
                                              {"notes", {"notes", "备注"}},
                                              {"role", {"role", "职位"}},
                                              {"organization", {"organization", "单位"}},
                                              {"team", {"team", "团队"}},
                                              {"location", {"location", "地点"}},
                                              {"skills", {"skills", "技能"}},
                                              {"projects", {"projects", "项目"}},
                                              {"colleagues", {"colleagues", "同事"}},
                                              {"tools", {"tools", "工具"}},
                                              {"working_hours", {"working hours", "工作时间"}},
                                              {"goals", {"goals", "目标"}}}};

std::string field_words(std::string_view field, bool chinese) {
  for (auto const& each : kFields) {
    if (each.field == field) return each.words.in(chinese);
  }
  return std::string{field};
}

// A noted value in plain words.
std::string value_words(json::value const& value) {
  if (value.is_string()) return shown_text(std::string{value.get_string()});
  if (value.is_object()) {
    std::string out;
    for (auto const& member : value.get_object())
      out += (out.empty() ? "" : ", ") + value_words(member.value());
    return out;
  }
  if (!value.is_array()) return {};
  std::string out;
  for (auto const& each : value.get_array())
    out += (out.empty() ? "" : "; ") + value_words(each);
  return out;
}

std::string contact_words(FoundContact const& contact, bool chinese) {
  auto line = quoted(contact.name, chinese);
  auto const add = [&](Words const& label, std::string const& value) {
    if (!value.empty()) line += (chinese ? "，" : ", ") + label.in(chinese) + value;
  };
  add({"phone ", "电话 "}, contact.phone);
  add({"e-mail ", "邮箱 "}, contact.email);
  add({"", ""}, contact.organization);
  return line;
}

bool is_more(ToolResult const& result) {
  auto const* const more = result.data.if_contains("more");
  return more != nullptr && more->is_bool() && more->get_bool();
}

}  // namespace

Reply Reports::report(std::string text) const {
  Reply reply;
  reply.text = std::move(text);
  return reply;
}

// Nothing was changed, and the user is asked.
Reply Reports::question(std::string text) const {
  Reply reply;
  reply.kind = ReplyKind::clarification;
  reply.status = ReplyStatus::partial;
  reply.text = std::move(text) + say({" Nothing was changed.", "没有更改任何内容。"});
  return reply;
}

std::vector<std::string> Reports::lines(std::vector<FoundEvent> const& events) const {
  std::vector<std::string> out;
  out.reserve(events.size());
  for (auto const& event : events)
    out.push_back(event_words(event, moment_.zone, chinese_));
  return out;
}

// The time that was looked at.
std::string Reports::time_words() const {
  auto const& day = request_.when.day;
  bool const shows = request_.ask == Ask::read_events;
  if (!day)
    return say(shows ? Words{"the next 7 days", "接下来七天"} : Words{"the next 31 days", "接下来31天"});
  auto const first = day_words(day->first, chinese_);
  return day->first == day->last ? first : first + say({" to ", "至"}) + day_words(day->last, chinese_);
}

std::string Reports::conflict_words(ToolResult const& result) const {
  auto const conflicts = all_events_in(result, "conflicts", moment_.zone);
  if (conflicts.empty()) return {};
  return say({" It overlaps with:", "与以下日程时间冲突："}) + list_words(lines(conflicts), chinese_);
}

Reply Reports::created(ToolResult const& result) const {
  auto const event = changed_event(result, moment_.zone);
  if (!event) return report(say({"The event was created.", "日程已创建。"}));
  auto const line = event_words(*event, moment_.zone, chinese_);
  auto reply = report(say({"Created: ", "已创建："}) + line + say({".", "。"}) + conflict_words(result));
  reply.key_points.push_back(line);
  return reply;
}

Reply Reports::changed(ToolResult const& result, FoundEvent const& before) const {
  bool const removed = request_.ask == Ask::delete_event;
  auto after = changed_event(result, moment_.zone).value_or(before);
  if (after.title.empty()) after.title = before.title;
  after.rule.clear();
  auto const line = event_words(after, moment_.zone, chinese_);
  auto text =
      say(removed ? Words{"Deleted: ", "已取消："} : Words{"Moved: ", "已改为："}) + line + say({".", "。"});
  if (!before.occurrence.empty())
    text += say({" Only this one of the repeated events was changed.", "只更改了重复日程中的这一次。"});
  auto reply = report(text + conflict_words(result));
  reply.key_points.push_back(line);
  return reply;
}

Reply Reports::shown_events(ToolResult const& result) const {
  auto const events = all_events_in(result, "items", moment_.zone);
  if (events.empty())
    return report(chinese_ ? time_words() + "没有安排。" : "Nothing is planned for " + time_words() + ".");
  auto const count = events.size();
  auto const head = chinese_ ? fmt::format("{}有 {} 项安排：", time_words(), count)
                             : fmt::format("{} event{} for {}:", count, count == 1 ? "" : "s", time_words());
  auto reply = report(head + list_words(lines(events), chinese_));
  reply.key_points.push_back(say({"events: ", "日程数："}) + std::to_string(count));
  return reply;
}

Reply Reports::found_events(std::vector<FoundEvent> const& events) const {
  if (events.empty())
    return report(say({"I found no such event in ", "没有找到这个日程，找的是"}) + time_words() +
                  say({".", "。"}));
  return report(say({"I found:", "找到："}) + list_words(lines(events), chinese_));
}

Reply Reports::shown_invites(ToolResult const& result) const {
  auto const invites = events_in(result, moment_.zone);
  if (invites.empty()) return report(say({"No invitation waits for your answer.", "没有等待答复的邀请。"}));
  auto text = say({"These invitations wait for your answer:", "以下邀请等待您的答复："}) +
              list_words(lines(invites), chinese_);
  if (is_more(result)) text += say({"\nThere are more.", "\n还有更多。"});
  return report(std::move(text));
}

Reply Reports::shared(ToolResult const& result, FoundContact const& contact, FoundEvent const& event) const {
  auto const line = event_words(changed_event(result, moment_.zone).value_or(event), moment_.zone, chinese_);
  auto const* const items = result.data.if_contains("items");
  std::string outcome;
  if (items != nullptr && items->is_array() && !items->get_array().empty() &&
      items->get_array()[0].is_object())
    outcome = text_at(items->get_array()[0].get_object(), "outcome");
  auto const verb = outcome == "already_invited" ? Words{" was already invited to ", "之前已经被邀请："}
                                                 : Words{" is invited to ", "已被邀请："};
  auto reply = report(contact.name + say(verb) + line + say({".", "。"}));
  reply.key_points.push_back(line);
  return reply;
}

Reply Reports::answered(ToolResult const& result, FoundEvent const& invite) const {
  bool const accepts = request_.ask == Ask::accept_invite;
  auto event = changed_event(result, moment_.zone).value_or(invite);
  auto const line = event_words(event, moment_.zone, chinese_);
  auto reply = report(say(accepts ? Words{"Accepted the invitation to ", "已接受邀请："}
                                  : Words{"Rejected the invitation to ", "已拒绝邀请："}) +
                      line + say({".", "。"}));
  reply.key_points.push_back(line);
  return reply;
}

Reply Reports::shown_contacts(std::vector<FoundContact> const& contacts) const {
  auto const name = quoted(request_.person, chinese_);
  if (contacts.empty())
    return report(say({"I found no contact for ", "没有找到联系人"}) + name + say({".", "。"}));
  std::vector<std::string> found;
  found.reserve(contacts.size());
  for (auto const& contact : contacts)
    found.push_back(contact_words(contact, chinese_));
  auto reply =
      report(say({"Your contacts for ", "联系人"}) + name + say({":", "："}) + list_words(found, chinese_));
  reply.key_points.push_back(found.front());
  return reply;
}

Reply Reports::remembered(ToolResult const& result) const {
  auto const value = quoted(request_.note.value, chinese_);
  auto const field = field_words(request_.note.field, chinese_);
  if (text_at(result.data, "outcome") == "unchanged")
    return report(say({"That was noted before: ", "这一点之前已经记下："}) + value + say({".", "。"}));
  return report(chinese_ ? "已记住（" + field + "）：" + value + "。"
                         : "Noted (" + field + "): " + value + ".");
}

Reply Reports::recalled(ToolResult const& result) const {
  std::vector<std::string> found;
  auto const* const items = result.data.if_contains("items");
  if (items != nullptr && items->is_array()) {
    for (auto const& item : items->get_array()) {
      auto const* const content = item.is_object() ? item.get_object().if_contains("content") : nullptr;
      if (content == nullptr || !content->is_object()) continue;
      for (auto const& member : content->get_object())
        found.push_back(field_words({member.key().data(), member.key().size()}, chinese_) +
                        say({": ", "："}) + value_words(member.value()));
    }
  }
  if (found.empty()) return report(say({"Nothing is noted about you.", "还没有记下关于您的内容。"}));
  return report(say({"This is noted about you:", "关于您记下了："}) + list_words(found, chinese_));
}

Reply Reports::not_one_event(std::vector<FoundEvent> const& meant, std::vector<FoundEvent> const& all) const {
  if (!meant.empty())
    return question(say({"Several events may be meant:", "可能指以下几个日程："}) +
                    list_words(lines(meant), chinese_) +
                    say({"\nName one by more words of its title, its day or its time.",
                         "\n请用标题里更多的词、日期或时间说明是哪一个。"}));
  auto text =
      say({"I found no such event in ", "没有找到这个日程，找的是"}) + time_words() + say({".", "。"});
  if (!all.empty())
    text += say({" These are there:", "那里有："}) + list_words(lines(all), chinese_) + say({"\n", "\n"});
  return question(std::move(text));
}

Reply Reports::not_one_invite(std::vector<FoundEvent> const& meant,
                              std::vector<FoundEvent> const& all) const {
  if (all.empty()) return question(say({"No invitation waits for your answer.", "没有等待答复的邀请。"}));
  auto const& shown = meant.empty() ? all : meant;
  auto const head = meant.empty() ? Words{"I found no such invitation. These wait for your answer:",
                                          "没有找到这个邀请。以下邀请等待您的答复："}
                                  : Words{"Several invitations may be meant:", "可能指以下几个邀请："};
  return question(say(head) + list_words(lines(shown), chinese_) + "\n");
}

Reply Reports::not_one_contact(std::vector<FoundContact> const& meant) const {
  auto const name = quoted(request_.person, chinese_);
  if (meant.empty())
    return question(say({"I found no contact for ", "没有找到联系人"}) + name + say({".", "。"}));
  std::vector<std::string> found;
  found.reserve(meant.size());
  for (auto const& contact : meant)
    found.push_back(contact_words(contact, chinese_));
  return question(say({"Several contacts may be meant:", "可能指以下几个联系人："}) +
                  list_words(found, chinese_) + "\n");
}

Reply Reports::no_user(FoundContact const& contact) const {
  return question(quoted(contact.name, chinese_) + say({" is no user of this server and cannot be invited.",
                                                        "不是这个服务器的用户，无法邀请。"}));
}

}  // namespace runnel::model
