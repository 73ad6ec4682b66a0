#include "runnel/modules/calendar/cards/cards.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>

#include "runnel/core/json/members.h"
#include "runnel/modules/calendar/cards/event_words.h"
#include "runnel/modules/calendar/input.h"
#include "runnel/modules/calendar/recurrence/rule.h"

namespace runnel::modules::calendar {

namespace json = boost::json;

namespace {

// What a card has of an event. The description and the reminders are too much for it.
constexpr std::array<char const*, 11> kShownFields{"title",         "start_at", "end_at",   "all_day",
                                                   "start_date",    "end_date", "location", "organizer",
                                                   "invite_status", "rrule",    "conflicts"};
// At most this many guests of an event are named.
constexpr std::size_t kMostNamed = 10;

// The start of an occurrence, under the name that the start of an event has.
void add_start_of_occurrence(json::object& event, json::object const& asked) {
  auto const start = text_at(asked, "occurrence_start");
  if (start.empty() || event.contains("start_at") || event.contains("start_date")) return;
  event[parse_day(start) ? "start_date" : "start_at"] = start;
}

// The members of both that a card shows. What the result says counts more than what was asked for.
json::object event_of(json::object const& asked, json::object const& found) {
  json::object event;
  for (auto const* const name : kShownFields) {
    auto const* value = found.if_contains(name);
    if (value == nullptr) value = asked.if_contains(name);
    if (value != nullptr) event[name] = *value;
  }
  add_start_of_occurrence(event, asked);
  return event;
}

json::array guests_of(json::array const& guests, char const* status) {
  json::array out;
  for (auto const& guest : guests) {
    if (out.size() == kMostNamed) break;
    auto const& fields = as_object(guest);
    out.push_back(json::object{{"user_id", text_at(fields, "user_id")}, {"status", text_at(fields, status)}});
  }
  return out;
}

json::object hints_of(char const* outcome, std::size_t count, json::array events) {
  return {{"outcome", outcome}, {"count", count}, {"events", std::move(events)}};
}

std::optional<json::object> read_hints(CardCall const& call) {
  json::array events;
  for (auto const& item : list_at(call.data, "items")) {
    if (events.size() == kMostCardItems) break;
    auto event = event_of({}, as_object(item));
    auto const& guests = list_at(as_object(item), "guests");
    event["guests"] = guests_of(guests, "status");
    if (guests.size() > kMostNamed) event["more_guests"] = guests.size() - kMostNamed;
    events.push_back(std::move(event));
  }
  auto const* const outcome = text_at(call.input, "mode") == "invites" ? "invites" : "shown";
  return hints_of(outcome, count_at(call.data, "count"), std::move(events));
}

// What is added to an outcome if only occurrences were changed, and not their series.
constexpr char kOnce[] = "_once";

// Those that were done of a batch, and the faults of the others.
json::object batch_hints(char const* outcome, CardCall const& call) {
  json::array events;
  static json::object const no_input;
  json::array failed;
  bool all_once = true;  // Whether all items that are shown are occurrences.
  auto const& asked = list_at(call.input, "items");
  for (auto const& item : list_at(call.data, "items")) {
    auto const& found = as_object(item);
    auto const* const error = found.if_contains("error");
    if (error != nullptr && failed.size() < kMostCardItems)
      failed.push_back(json::object{{"message", text_at(as_object(*error), "message")}});
    if (error != nullptr || events.size() == kMostCardItems) continue;
    auto const index = count_at(found, "index");
    auto const& input = index < asked.size() ? as_object(asked[index]) : no_input;
    all_once = all_once && input.contains("occurrence_start");
    events.push_back(event_of(input, found));
  }
  auto const failures = count_at(call.data, "failed");
  all_once = all_once && !events.empty();
  auto hints = hints_of(outcome, count_at(call.data, "count") - failures, std::move(events));
  if (all_once) hints["outcome"] = std::string{outcome} + kOnce;
  if (failures > 0) {
    hints["failed"] = std::move(failed);
    hints["failed_count"] = failures;
  }
  return hints;
}

std::optional<json::object> changed_hints(char const* outcome, CardCall const& call) {
  if (text_at(call.input, "mode") == "batch") return batch_hints(outcome, call);
  auto hints = hints_of(outcome, 1, json::array{event_of(call.input, call.data)});
  if (call.input.contains("occurrence_start")) hints["outcome"] = std::string{outcome} + kOnce;
  return hints;
}

std::optional<json::object> shared_hints(CardCall const& call) {
  auto const& users = list_at(call.data, "items");
  auto const invited = std::count_if(users.begin(), users.end(), [](json::value const& user) {
    return text_at(as_object(user), "outcome") == "invited";
  });
  auto event = event_of({}, call.data);
  event["guests"] = guests_of(users, "outcome");
  if (users.size() > kMostNamed) event["more_guests"] = users.size() - kMostNamed;
  return hints_of("shared", static_cast<std::size_t>(invited), json::array{std::move(event)});
}

struct Words {
  char const* key;
  char const* english;
  char const* chinese;
};

// The title of a card by its outcome, for one event and for several.
struct Title {
  char const* outcome;
  char const* english;
  char const* english_many;
  char const* chinese;
  char const* chinese_many;
};
constexpr std::array<Title, 10> kTitles{
    {{"shown", "1 event", "{} events", "1 个日程", "{} 个日程"},
     {"invites", "1 invitation to answer", "{} invitations to answer", "1 个待回复的邀请",
      "{} 个待回复的邀请"},
     {"created", "Event created", "{} events created", "日程已创建", "已创建 {} 个日程"},
     {"updated", "Event updated", "{} events updated", "日程已更新", "已更新 {} 个日程"},
     {"updated_once", "One occurrence updated", "{} occurrences updated", "已更新其中一次日程",
      "已更新 {} 次日程"},
     {"deleted", "Event deleted", "{} events deleted", "日程已删除", "已删除 {} 个日程"},
     {"deleted_once", "One occurrence deleted", "{} occurrences deleted", "已删除其中一次日程",
      "已删除 {} 次日程"},
     {"shared", "1 user invited", "{} users invited", "已邀请 1 位参与者", "已邀请 {} 位参与者"},
     {"accepted", "Invitation accepted", "Invitation accepted", "已接受邀请", "已接受邀请"},
     {"rejected", "Invitation rejected", "Invitation rejected", "已拒绝邀请", "已拒绝邀请"}}};

constexpr std::array<Words, 5> kStatuses{{{"pending", "not answered yet", "待回复"},
                                          {"accepted", "accepted", "已接受"},
                                          {"rejected", "rejected", "已拒绝"},
                                          {"invited", "invited", "已邀请"},
                                          {"already_invited", "invited before", "此前已邀请"}}};

// How often an event repeats: each time, and after an interval.
struct FrequencyWords {
  char const* english;
  char const* english_interval;
  char const* chinese;
  char const* chinese_interval;
};
// In the order of Frequency.
constexpr std::array<FrequencyWords, 4> kFrequencies{
    {{"Repeats daily", "Repeats every {} days", "每天重复", "每 {} 天重复"},
     {"Repeats weekly", "Repeats every {} weeks", "每周重复", "每 {} 周重复"},
     {"Repeats monthly", "Repeats every {} months", "每月重复", "每 {} 个月重复"},
     {"Repeats yearly", "Repeats every {} years", "每年重复", "每 {} 年重复"}}};

std::string title_of(EventWords const& words, std::string const& outcome, std::size_t count) {
  if (count == 0 && outcome == "shown") return words.pick("No events", "没有日程");
  if (count == 0 && outcome == "invites") return words.pick("No invitations", "没有待回复的邀请");
  if (count == 0 && outcome == "shared") return words.pick("Already invited", "此前均已邀请");
  for (auto const& title : kTitles) {
    if (outcome != title.outcome) continue;
    if (count == 1) return words.pick(title.english, title.chinese);
    return fmt::format(fmt::runtime(words.pick(title.english_many, title.chinese_many)), count);
  }
  return words.pick("Calendar", "日历");
}

std::string status_in_words(EventWords const& words, std::string const& status) {
  for (auto const& known : kStatuses) {
    if (status == known.key) return words.pick(known.english, known.chinese);
  }
  return status;
}

// How often the event repeats. Empty if it does not.
std::string repetition(EventWords const& words, json::object const& event) {
  auto const read = parse_rule(text_at(event, "rrule"), event.contains("start_date"));
  auto const* const rule = std::get_if<Rule>(&read);
  if (rule == nullptr) return {};
  auto const& known = kFrequencies.at(static_cast<std::size_t>(rule->frequency));
  if (rule->interval == 1) return words.pick(known.english, known.chinese);
  return fmt::format(fmt::runtime(words.pick(known.english_interval, known.chinese_interval)),
                     rule->interval);
}

// Appends the line "label: text" if there is a text.
void add_line(CardItem& item, EventWords const& words, char const* english, char const* chinese,
              std::string const& text) {
  if (!text.empty()) item.lines.push_back(words.pick(english, chinese) + words.pick(": ", "：") + text);
}

CardItem item_of(EventWords const& words, json::object const& event) {
  CardItem item;
  item.title = text_at(event, "title");
  auto const status = text_at(event, "invite_status");
  if (!status.empty()) item.badge = status_in_words(words, status);
  if (auto when = words.when(event); !when.empty()) item.lines.push_back(std::move(when));
  if (auto repeats = repetition(words, event); !repeats.empty()) item.lines.push_back(std::move(repeats));
  add_line(item, words, "Location", "地点", text_at(event, "location"));
  add_line(item, words, "Organizer", "组织者", text_at(event, "organizer"));
  for (auto const& guest : list_at(event, "guests")) {
    auto const& fields = as_object(guest);
    auto const answer = status_in_words(words, text_at(fields, "status"));
    item.lines.push_back(text_at(fields, "user_id") + words.pick(" – ", "：") + answer);
  }
  if (auto const more = count_at(event, "more_guests"); more > 0)
    item.lines.push_back(fmt::format(fmt::runtime(words.pick("{} more guests", "另有 {} 位参与者")), more));
  for (auto const& conflict : list_at(event, "conflicts")) {
    auto const& other = as_object(conflict);
    add_line(item, words, "Overlaps", "时间冲突",
             text_at(other, "title") + words.pick(", ", "，") + words.when(other));
  }
  return item;
}

void add_failures(Card& card, EventWords const& words, json::object const& hints) {
  for (auto const& failure : list_at(hints, "failed")) {
    if (card.items.size() == kMostCardItems) break;
    auto& item = card.items.emplace_back();
    item.title = words.pick("Not done", "未完成");
    item.lines.push_back(text_at(as_object(failure), "message"));
  }
}

Card make_card(json::object const& hints, CardReader const& reader) {
  EventWords const words{reader};
  auto const count = count_at(hints, "count");
  auto const outcome = text_at(hints, "outcome");
  auto const all = (outcome == "shared" ? 1 : count) + count_at(hints, "failed_count");
  Card card;
  card.title = title_of(words, outcome, count);
  for (auto const& event : list_at(hints, "events"))
    card.items.push_back(item_of(words, as_object(event)));
  add_failures(card, words, hints);
  if (all > card.items.size())
    card.note = fmt::format(fmt::runtime(words.pick("{} more are not shown here", "另有 {} 项未显示")),
                            all - card.items.size());
  return card;
}

CardForm changing(std::string_view method, char const* outcome) {
  return {method, [outcome](CardCall const& call) { return changed_hints(outcome, call); }, &make_card};
}

}  // namespace

std::vector<CardForm> card_forms() {
  return {{"calendar.read", &read_hints, &make_card},    changing("calendar.create", "created"),
          changing("calendar.update", "updated"),        changing("calendar.delete", "deleted"),
          {"calendar.share", &shared_hints, &make_card}, changing("calendar.accept_invite", "accepted"),
          changing("calendar.reject_invite", "rejected")};
}

}  // namespace runnel::modules::calendar
