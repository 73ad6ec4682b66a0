#include "runnel/model/builtin/offline_results.h"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "runnel/core/json/lenient.h"
#include "runnel/core/json/members.h"
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

ToolEnd end_of(std::string const& status) {
  if (status == "success") return ToolEnd::success;
  if (status == "partial") return ToolEnd::partial;
  return status == "failure" ? ToolEnd::failure : ToolEnd::unreadable;
}

void read_answer(ToolResult& out, std::string const& text) {
  auto const answer = read_object(text);
  if (!answer) return;
  out.end = end_of(text_at(*answer, "status"));
  out.data = object_at(*answer, "data");
  auto const& error = object_at(*answer, "error");
  out.code = text_at(error, "code");
  out.reason = shown_text(text_at(error, "message"));
}

ToolResult result_of(ToolCall const& call, std::vector<PromptMessage> const& messages, std::size_t from) {
  ToolResult out;
  if (auto const arguments = read_object(call.arguments)) {
    out.method = text_at(*arguments, "module") + "." + text_at(*arguments, "method");
    out.input = object_at(*arguments, "input");
  }
  for (auto at = from; at < messages.size(); ++at) {
    auto const& message = messages[at];
    if (message.speaker == Speaker::tool && message.tool_call_id == call.id) read_answer(out, message.text);
  }
  return out;
}

}  // namespace

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
  event.event_id = text_at(object, "event_id");
  event.title = shown_text(text_at(object, "title"));
  event.location = shown_text(text_at(object, "location"));
  event.organizer = shown_text(text_at(object, "organizer"));
  event.invite_id = text_at(object, "invite_id");
  event.invite_status = text_at(object, "invite_status");
  event.occurrence = text_at(object, "occurrence_start");
  event.rule = text_at(object, "rrule");
  if (auto const first = parse_day(text_at(object, "start_date"))) {
    event.all_day = true;
    event.first = *first;
    event.last = parse_day(text_at(object, "end_date")).value_or(*first);
    event.start_ms = zone.day_begins(event.first);
    event.end_ms = zone.day_begins(event.last + std::chrono::days{1});
    return event;
  }
  auto const start = parse_instant(text_at(object, "start_at"));
  auto const end = parse_instant(text_at(object, "end_at"));
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
  for (auto const& item : list_at(result.data, list)) {
    if (auto event = to_event(as_object(item), zone)) events.push_back(std::move(*event));
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
  for (auto const& each : list_at(result.data, "items")) {
    auto const& item = as_object(each);
    contacts.push_back({shown_text(text_at(item, "name")), shown_text(text_at(item, "email")),
                        shown_text(text_at(item, "phone")), shown_text(text_at(item, "organization")),
                        text_at(item, "user_id")});
  }
  return contacts;
}

}  // namespace runnel::model
