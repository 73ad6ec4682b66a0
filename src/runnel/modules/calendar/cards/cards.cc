#include "runnel/modules/calendar/cards/cards.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "runnel/core/json/members.h"
#include "runnel/modules/calendar/cards/event_words.h"

namespace runnel::modules::calendar {

namespace json = boost::json;

namespace {

// What a card has of an event. The description and the reminders are too much for it.
constexpr std::array<char const*, 11> kShownFields{"title",         "start_at", "end_at",   "all_day",
                                                   "start_date",    "end_date", "location", "organizer",
                                                   "invite_status", "rrule",    "conflicts"};
// At most this many guests of an event are named.
constexpr std::size_t kMostNamed = 10;

// The members of both that a card shows. What the result says counts more than what was asked for.
json::object event_of(json::object const& asked, json::object const& found) {
  json::object event;
  for (auto const* const name : kShownFields) {
    auto const* value = found.if_contains(name);
    if (value == nullptr) value = asked.if_contains(name);
    if (value != nullptr) event[name] = *value;
  }
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
    event["guests"] = guests_of(list_at(as_object(item), "guests"), "status");
    events.push_back(std::move(event));
  }
  auto const* const outcome = text_at(call.input, "mode") == "invites" ? "invites" : "shown";
  return hints_of(outcome, count_at(call.data, "count"), std::move(events));
}

// Those that were done of a batch, and the faults of the others.
json::object batch_hints(char const* outcome, CardCall const& call) {
  json::array events;
  json::array failed;
  auto const& asked = list_at(call.input, "items");
  for (auto const& item : list_at(call.data, "items")) {
    auto const& found = as_object(item);
    auto const* const error = found.if_contains("error");
    if (error != nullptr && failed.size() < kMostCardItems)
      failed.push_back(json::object{{"message", text_at(as_object(*error), "message")}});
    if (error != nullptr || events.size() == kMostCardItems) continue;
    auto const index = count_at(found, "index");
    events.push_back(event_of(index < asked.size() ? as_object(asked[index]) : json::object{}, found));
  }
  auto const failures = count_at(call.data, "failed");
  auto hints = hints_of(outcome, count_at(call.data, "count") - failures, std::move(events));
  if (failures > 0) {
    hints["failed"] = std::move(failed);
    hints["failed_count"] = failures;
  }
  return hints;
}

std::optional<json::object> changed_hints(char const* outcome, CardCall const& call) {
  if (text_at(call.input, "mode") == "batch") return batch_hints(outcome, call);
  return hints_of(outcome, 1, json::array{event_of(call.input, call.data)});
}

std::optional<json::object> shared_hints(CardCall const& call) {
  auto event = event_of({}, call.data);
  event["guests"] = guests_of(list_at(call.data, "items"), "outcome");
  return hints_of("shared", count_at(call.data, "count"), json::array{std::move(event)});
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
constexpr std::array<Title, 8> kTitles{
    {{"shown", "1 event", "{} events", "1 个日程", "{} 个日程"},
     {"invites", "1 invitation to answer", "{} invitations to answer", "1 个待回复的邀请",
      "{} 个待回复的邀请"},
     {"created", "Event created", "{} events created", "日程已创建", "已创建 {} 个日程"},
     {"updated", "Event updated", "{} events updated", "日程已更新", "已更新 {} 个日程"},
     {"deleted", "Event deleted", "{} events deleted", "日程已删除", "已删除 {} 个日程"},
     {"shared", "1 user invited", "{} users invited", "已邀请 1 位参与者", "已邀请 {} 位参与者"},
     {"accepted", "Invitation accepted", "Invitation accepted", "已接受邀请", "已接受邀请"},
     {"rejected", "Invitation rejected", "Invitation rejected", "已拒绝邀请", "已拒绝邀请"}}};

constexpr std::array<Words, 5> kStatuses{{{"pending", "not answered yet", "待回复"},
                                          {"accepted", "accepted", "已接受"},
                                          {"rejected", "rejected", "已拒绝"},
                                          {"invited", "invited", "已邀请"},
                                          {"already_invited", "invited before", "此前已邀请"}}};

constexpr std::array<Words, 4> kFrequencies{{{"FREQ=DAILY", "Repeats daily", "每天重复"},
                                             {"FREQ=WEEKLY", "Repeats weekly", "每周重复"},
                                             {"FREQ=MONTHLY", "Repeats monthly", "每月重复"},
                                             {"FREQ=YEARLY", "Repeats yearly", "每年重复"}}};

std::string title_of(EventWords const& words, std::string const& outcome, std::size_t count) {
  if (count == 0 && outcome == "shown") return words.pick("No events", "没有日程");
  if (count == 0 && outcome == "invites") return words.pick("No invitations", "没有待回复的邀请");
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
  auto const rule = text_at(event, "rrule");
  for (auto const& known : kFrequencies) {
    if (rule.find(known.key) != std::string::npos) return words.pick(known.english, known.chinese);
  }
  return {};
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
