#include "runnel/model/builtin/offline_results.h"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "runnel/core/json/lenient.h"
#include "runnel/core/text/text.h"
#include "runnel/core/time/instant.h"
#include "runnel/model/builtin/offline_words.h"

namespace runnel::model {

namespace json = boost::json;

namespace {

constexpr std::size_t kLongestShownText = 120;

std::optional<json::object> read_object(std::string const& text) {
  auto read = parse_lenient_json(text);
  auto* const value = std::get_if<json::value>(&read);
  if (value == nullptr || !value->is_object()) return std::nullopt;
  return std::move(value->get_object());
}

json::object object_in(json::object const& object, char const* name) {
  auto const* const value = object.if_contains(name);
  return value != nullptr && value->is_object() ? value->get_object() : json::object{};
}

std::vector<json::object> list_in(json::object const& object, char const* name) {
  auto const* const value = object.if_contains(name);
  if (value == nullptr || !value->is_array()) return {};
  std::vector<json::object> items;
  for (auto const& each : value->get_array()) {
    if (each.is_object()) items.push_back(each.get_object());
  }
  return items;
}

ToolEnd end_of(std::string const& status) {
  if (status == "success") return ToolEnd::success;
  if (status == "partial") return ToolEnd::partial;
  return status == "failure" ? ToolEnd::failure : ToolEnd::unreadable;
}

void read_answer(ToolResult& out, std::string const& text) {
  auto const answer = read_object(text);
  if (!answer) return;
  out.end = end_of(text_in(*answer, "status"));
  out.data = object_in(*answer, "data");
  auto const error = object_in(*answer, "error");
  out.code = text_in(error, "code");
  out.reason = shown_text(text_in(error, "message"));
}

ToolResult result_of(ToolCall const& call, std::vector<PromptMessage> const& messages, std::size_t from) {
  ToolResult out;
  if (auto const arguments = read_object(call.arguments)) {
    out.method = text_in(*arguments, "module") + "." + text_in(*arguments, "method");
    out.input = object_in(*arguments, "input");
  }
  for (auto at = from; at < messages.size(); ++at) {
    auto const& message = messages[at];
    if (message.speaker == Speaker::tool && message.tool_call_id == call.id) read_answer(out, message.text);
  }
  return out;
}

}  // namespace

std::string text_in(json::object const& object, char const* name) {
  auto const* const value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

std::string shown_text(std::string const& text) {
  return shortened(to_one_line(text), kLongestShownText);
}

std::vector<ToolResult> read_results(std::vector<PromptMessage> const& messages, std::size_t from) {
  std::vector<ToolResult> results;
  for (auto at = from; at < messages.size(); ++at) {
    for (auto const& call : messages[at].tool_calls)
      results.push_back(result_of(call, messages, at));
  }
  return results;
}

std::optional<FoundEvent> to_event(json::object const& object, Zone const& zone) {
  FoundEvent event;
  event.event_id = text_in(object, "event_id");
  event.title = shown_text(text_in(object, "title"));
  event.location = shown_text(text_in(object, "location"));
  event.organizer = shown_text(text_in(object, "organizer"));
  event.invite_id = text_in(object, "invite_id");
  event.invite_status = text_in(object, "invite_status");
  event.occurrence = text_in(object, "occurrence_start");
  event.rule = text_in(object, "rrule");
  if (auto const first = parse_day(text_in(object, "start_date"))) {
    event.all_day = true;
    event.first = *first;
    event.last = parse_day(text_in(object, "end_date")).value_or(*first);
    event.start_ms = zone.day_begins(event.first);
    event.end_ms = zone.day_begins(event.last + std::chrono::days{1});
    return event;
  }
  auto const start = parse_instant(text_in(object, "start_at"));
  auto const end = parse_instant(text_in(object, "end_at"));
  if (!start || !end) return std::nullopt;
  event.start_ms = *start;
  event.end_ms = *end;
  return event;
}

std::optional<FoundEvent> changed_event(ToolResult const& result, Zone const& zone) {
  auto whole = result.data;
  for (auto const& member : result.input) {
    if (!whole.contains(member.key())) whole.emplace(member.key(), member.value());
  }
  return to_event(whole, zone);
}

std::vector<FoundEvent> all_events_in(ToolResult const& result, char const* list, Zone const& zone) {
  std::vector<FoundEvent> events;
  for (auto const& item : list_in(result.data, list)) {
    if (auto event = to_event(item, zone)) events.push_back(std::move(*event));
  }
  return events;
}

std::vector<FoundEvent> events_in(ToolResult const& result, Zone const& zone) {
  std::set<std::string> seen;
  auto events = all_events_in(result, "items", zone);
  std::erase_if(events, [&](FoundEvent const& event) { return !seen.insert(event.event_id).second; });
  return events;
}

std::vector<FoundContact> contacts_in(ToolResult const& result) {
  std::vector<FoundContact> contacts;
  for (auto const& item : list_in(result.data, "items")) {
    contacts.push_back({shown_text(text_in(item, "name")), shown_text(text_in(item, "email")),
                        shown_text(text_in(item, "phone")), shown_text(text_in(item, "organization")),
                        text_in(item, "user_id")});
  }
  return contacts;
}

}  // namespace runnel::model
