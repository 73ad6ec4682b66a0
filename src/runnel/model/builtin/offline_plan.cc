#include "runnel/model/builtin/offline_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runnel/core/json/write.h"
#include "runnel/core/text/text.h"
#include "runnel/model/builtin/offline_reports.h"
#include "runnel/model/builtin/offline_wording.h"
#include "runnel/model/builtin/offline_words.h"

namespace runnel::model {

namespace chrono = std::chrono;

namespace {

constexpr std::int64_t kDayMs = kMinutesOfDay * kMinuteMs;
constexpr std::int64_t kUsualMinutes = 60;  // Of an event whose end is not said.
constexpr int kDaysSearched = 31;
constexpr int kDaysShown = 7;

// Makes the plan of one request.
class Planner {
 public:
  Planner(Request const& request, Moment const& moment, std::vector<ToolResult> const& results)
      : request_{request}, moment_{moment}, results_{results}, chinese_{request.chinese} {}

  [[nodiscard]] Step next() const {
    if (request_.missing != Missing::nothing) return ask_for(request_.missing, request_.ask, chinese_);
    for (auto const& result : results_) {
      if (result.end == ToolEnd::failure || result.end == ToolEnd::unreadable) return failed(result);
    }
    switch (request_.ask) {
      case Ask::create_event:
        return create();
      case Ask::read_events:
      case Ask::find_event:
        return read();
      case Ask::read_invites:
        return read_invites();
      case Ask::move_event:
      case Ask::delete_event:
        return change();
      case Ask::share_event:
        return share();
      case Ask::accept_invite:
      case Ask::reject_invite:
        return answer_invite();
      case Ask::find_contact:
        return find_contact();
      case Ask::remember:
        return remember();
      case Ask::recall:
        return recall();
      case Ask::nothing:
        break;
    }
    return Reply{};
  }

 private:
  [[nodiscard]] std::string say(Words const& words) const { return words.in(chinese_); }

  [[nodiscard]] Step failed(ToolResult const& result) const {
    auto reply = failure_reply(result, chinese_);
    bool const repeated = result.code == "INVALID_ACTION_INPUT" && result.input.contains("rrule");
    if (repeated && result.reason.find("rrule") != std::string::npos)
      reply.text += say({" This calendar does not repeat events in this way.", "这个日历不能这样重复日程。"});
    return reply;
  }

  [[nodiscard]] NextCall call(char const* module, char const* method, std::string input,
                              Words const& intent) const {
    return {module, method, std::move(input), say(intent)};
  }

  [[nodiscard]] Reports reports() const { return {request_, moment_}; }

  // --- Events ---

  [[nodiscard]] std::int64_t start_ms() const {
    auto const& when = request_.when;
    if (when.from_now_ms) return *when.from_now_ms;
    auto day = when.day ? when.day->first : moment_.today();
    bool const passed = !when.day && instant_of(moment_.zone, day, *when.start) < moment_.now_ms;
    if (passed) day += chrono::days{1};
    return instant_of(moment_.zone, day, *when.start);
  }

  [[nodiscard]] std::int64_t end_ms(std::int64_t start) const {
    auto const& when = request_.when;
    if (when.length) return start + *when.length * kMinuteMs;
    if (!when.end) return start + kUsualMinutes * kMinuteMs;
    auto const day = moment_.zone.at(start).day;
    auto const begins = *when.start / kMinutesOfDay;
    return std::max(instant_of(moment_.zone, day, *when.end - begins * kMinutesOfDay), start + kMinuteMs);
  }

  void append_times(JsonObject& object) const {
    auto const& when = request_.when;
    if (when.says_time()) {
      auto const start = start_ms();
      object.text("start_at", to_local_rfc3339(moment_.zone, start));
      object.text("end_at", to_local_rfc3339(moment_.zone, end_ms(start)));
      return;
    }
    auto const last = when.days ? when.day->first + chrono::days{*when.days - 1} : when.day->last;
    object.boolean("all_day", true)
        .text("start_date", to_date(when.day->first))
        .text("end_date", to_date(last));
  }

  [[nodiscard]] Step create() const {
    if (!results_.empty()) return reports().created(results_.front());
    std::string input;
    JsonObject object{input};
    object.text("title", request_.name.title);
    append_times(object);
    if (!request_.name.location.empty()) object.text("location", request_.name.location);
    if (request_.when.reminder) object.raw("reminders", "[" + std::to_string(*request_.when.reminder) + "]");
    if (!request_.when.rule.empty()) object.text("rrule", request_.when.rule);
    object.close();
    return call("calendar", "create", std::move(input), {"Create the event", "创建日程"});
  }

  [[nodiscard]] NextCall read_range(std::int64_t from, std::int64_t to) const {
    std::string input;
    JsonObject{input}
        .text("mode", "range")
        .text("start_at", to_local_rfc3339(moment_.zone, from))
        .text("end_at", to_local_rfc3339(moment_.zone, to))
        .close();
    return call("calendar", "read", std::move(input), {"Look at the calendar", "查看日历"});
  }

  [[nodiscard]] NextCall read_days(Day first, Day last) const {
    if (first != last)
      return read_range(moment_.zone.day_begins(first), moment_.zone.day_begins(last + chrono::days{1}));
    std::string input;
    JsonObject{input}.text("mode", "day").text("date", to_date(first)).close();
    return call("calendar", "read", std::move(input), {"Look at the calendar", "查看日历"});
  }

  // Reads the time in which the event must be.
  [[nodiscard]] NextCall search() const {
    auto const& day = request_.when.day;
    if (day) return read_days(day->first, day->last);
    return read_range(moment_.now_ms, moment_.now_ms + kDaysSearched * kDayMs);
  }

  [[nodiscard]] Step read() const {
    if (!results_.empty() && request_.ask == Ask::find_event)
      return reports().found_events(matching(events_in(results_.front(), moment_.zone)));
    if (!results_.empty()) return reports().shown_events(results_.front());
    if (request_.ask == Ask::find_event) return search();
    auto const& day = request_.when.day;
    if (day) return read_days(day->first, day->last);
    return read_days(moment_.today(), moment_.today() + chrono::days{kDaysShown - 1});
  }

  [[nodiscard]] Step read_invites() const {
    if (!results_.empty()) return reports().shown_invites(results_.front());
    return call("calendar", "read", R"({"mode":"invites"})", {"Look at the invitations", "查看邀请"});
  }

  // The events that may be meant.
  [[nodiscard]] std::vector<FoundEvent> matching(std::vector<FoundEvent> events) const {
    auto const& start = request_.when.start;
    std::erase_if(events, [&](FoundEvent const& event) {
      return start && (event.all_day || moment_.zone.at(event.start_ms).minute != *start % kMinutesOfDay);
    });
    auto strict = events;
    std::erase_if(strict, [&](FoundEvent const& event) { return !agrees(event, Strict::yes); });
    if (!strict.empty() || request_.words.terms.empty()) return strict;
    std::erase_if(events, [&](FoundEvent const& event) { return !agrees(event, Strict::no); });
    return events;
  }

  [[nodiscard]] bool agrees(FoundEvent const& event, Strict strict) const {
    return may_be(request_.words, event.title + " " + event.organizer, strict);
  }

  // The user's own events, or if none of them may be meant, those of others.
  [[nodiscard]] std::vector<FoundEvent> own_first(std::vector<FoundEvent> const& events) const {
    auto own = events;
    std::erase_if(own, [](FoundEvent const& event) { return !event.organizer.empty(); });
    return own.empty() ? events : own;
  }

  [[nodiscard]] Step change() const {
    if (results_.empty()) return search();
    auto const all = events_in(results_.front(), moment_.zone);
    auto const found = own_first(matching(all));
    if (found.size() != 1) return reports().not_one_event(found, all);
    if (results_.size() > 1) return reports().changed(results_[1], found.front());
    return request_.ask == Ask::delete_event ? remove(found.front()) : move(found.front());
  }

  [[nodiscard]] NextCall remove(FoundEvent const& event) const {
    std::string input;
    JsonObject object{input};
    object.text("event_id", event.event_id);
    if (!event.occurrence.empty()) object.text("occurrence_start", event.occurrence);
    object.close();
    return call("calendar", "delete", std::move(input), {"Delete the event", "删除日程"});
  }

  [[nodiscard]] Step move(FoundEvent const& event) const {
    auto const days = request_.shift_minutes.value_or(0) / kMinutesOfDay;
    bool const whole_days = request_.shift_minutes.value_or(0) % kMinutesOfDay == 0;
    if (event.all_day && request_.shift_minutes && !whole_days)
      return ask_for(Missing::time, request_.ask, chinese_);
    std::string input;
    JsonObject object{input};
    object.text("event_id", event.event_id);
    if (!event.occurrence.empty()) object.text("occurrence_start", event.occurrence);
    if (!event.all_day) {
      append_moved_times(object, event);
    } else if (request_.target.says_time()) {
      auto const start = moved_start(event);
      object.boolean("all_day", false).text("start_at", to_local_rfc3339(moment_.zone, start));
      object.text("end_at", to_local_rfc3339(moment_.zone,
                                             moved_end(start).value_or(start + kUsualMinutes * kMinuteMs)));
    } else {
      auto const day = request_.shift_minutes ? event.first + chrono::days{days} : request_.target.day->first;
      object.text("start_date", to_date(day));
    }
    object.close();
    return call("calendar", "update", std::move(input), {"Move the event", "移动日程"});
  }

  void append_moved_times(JsonObject& object, FoundEvent const& event) const {
    auto const start = moved_start(event);
    object.text("start_at", to_local_rfc3339(moment_.zone, start));
    if (auto const end = moved_end(start)) object.text("end_at", to_local_rfc3339(moment_.zone, *end));
  }

  // A day or a time that is not named stays as it is.
  [[nodiscard]] std::int64_t moved_start(FoundEvent const& event) const {
    auto const& target = request_.target;
    if (target.from_now_ms) return *target.from_now_ms;
    auto const local = moment_.zone.at(event.start_ms);
    if (request_.shift_minutes) {
      // A day later is the same time of the next day, also where the clocks are changed in between.
      auto const days = *request_.shift_minutes / kMinutesOfDay;
      auto const same_time = instant_of(moment_.zone, local.day + chrono::days{days}, local.minute);
      return (days == 0 ? event.start_ms : same_time) + *request_.shift_minutes % kMinutesOfDay * kMinuteMs;
    }
    return instant_of(moment_.zone, target.day ? target.day->first : local.day,
                      target.start.value_or(local.minute));
  }

  [[nodiscard]] std::optional<std::int64_t> moved_end(std::int64_t start) const {
    auto const& target = request_.target;
    if (target.length) return start + *target.length * kMinuteMs;
    if (!target.end || !target.start) return std::nullopt;
    return start + std::max(*target.end - *target.start, 1) * kMinuteMs;
  }

  // --- People ---

  [[nodiscard]] NextCall search_contact() const {
    std::string input;
    JsonObject{input}.text("mode", "search").text("query", request_.person).close();
    return call("contacts", "read", std::move(input), {"Find the contact", "查找联系人"});
  }

  [[nodiscard]] Step find_contact() const {
    if (results_.empty()) return search_contact();
    return reports().shown_contacts(contacts_in(results_.front()));
  }

  // The contacts that may be meant: only those of exactly this name, if there are any.
  [[nodiscard]] std::vector<FoundContact> meant_contacts() const {
    auto const all = contacts_in(results_.front());
    auto exact = all;
    std::erase_if(exact,
                  [&](FoundContact const& each) { return !equal_ignoring_case(each.name, request_.person); });
    return exact.empty() ? all : exact;
  }

  [[nodiscard]] Step share() const {
    if (results_.empty()) return search_contact();
    auto const contacts = meant_contacts();
    if (contacts.size() != 1) return reports().not_one_contact(contacts);
    if (contacts.front().user_id.empty()) return reports().no_user(contacts.front());
    if (results_.size() == 1) return search();
    auto const all = events_in(results_[1], moment_.zone);
    auto const found = own_first(matching(all));
    if (found.size() != 1) return reports().not_one_event(found, all);
    if (results_.size() > 2) return reports().shared(results_[2], contacts.front(), found.front());
    std::string input;
    JsonObject object{input};
    object.text("event_id", found.front().event_id);
    append_json_array(object.key("user_ids"), std::vector{contacts.front().user_id},
                      [](std::string& out, std::string const& id) { append_json_string(out, id); });
    object.close();
    return call("calendar", "share", std::move(input), {"Invite to the event", "邀请参加"});
  }

  [[nodiscard]] Step answer_invite() const {
    if (results_.empty())
      return call("calendar", "read", R"({"mode":"invites"})", {"Look at the invitations", "查看邀请"});
    auto const all = events_in(results_.front(), moment_.zone);
    auto found = matching(all);
    auto const& day = request_.when.day;
    std::erase_if(found, [&](FoundEvent const& event) {
      auto const on = moment_.zone.at(event.start_ms).day;
      return day && (on < day->first || on > day->last);
    });
    if (found.size() != 1) return reports().not_one_invite(found, all);
    bool const accepts = request_.ask == Ask::accept_invite;
    if (results_.size() > 1) return reports().answered(results_[1], found.front());
    std::string input;
    JsonObject{input}.text("invite_id", found.front().invite_id).close();
    return call(
        "calendar", accepts ? "accept_invite" : "reject_invite", std::move(input),
        accepts ? Words{"Accept the invitation", "接受邀请"} : Words{"Reject the invitation", "拒绝邀请"});
  }

  // --- Memory ---

  [[nodiscard]] Step remember() const {
    if (!results_.empty()) return reports().remembered(results_.front());
    auto const& note = request_.note;
    std::string value;
    append_json_string(value, note.value);
    std::string input;
    JsonObject object{input};
    object.text("kind", note.kind).text("mode", "merge");
    auto& content = object.key("content");
    content += '{';
    append_json_string(content, note.field);
    content += ':' + (note.in_list ? "[" + value + "]" : value) + '}';
    object.close();
    return call("memory", "update", std::move(input), {"Note it", "记下来"});
  }

  [[nodiscard]] Step recall() const {
    if (!results_.empty()) return reports().recalled(results_.front());
    return call("memory", "read", "{}", {"Look at what was noted", "查看记下的内容"});
  }

  Request const& request_;
  Moment const& moment_;
  std::vector<ToolResult> const& results_;
  bool chinese_;
};

}  // namespace

Step plan(Request const& request, std::string const& words, Moment const& moment,
          std::vector<ToolResult> const& results) {
  if (request.ask != Ask::nothing) return Planner{request, moment, results}.next();
  Reply reply;
  reply.kind = ReplyKind::unknown;
  reply.text = self_words(words, request.chinese);
  return reply;
}

}  // namespace runnel::model
