#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runnel/core/prompt.h"
#include "runnel/model/builtin/offline_dates.h"

// What the tool has returned in a stage, as the offline model reads it.
namespace runnel::model {

enum class ToolEnd { success, partial, failure, unreadable };

struct ToolResult {
  std::string method;  // "calendar.read"
  ToolEnd end = ToolEnd::unreadable;
  boost::json::object input;
  boost::json::object data;
  std::string code;  // Of a failure.
  std::string reason;
};

// The calls with their results among the messages from `from` on, in the order of the calls.
std::vector<ToolResult> read_results(std::vector<PromptMessage> const& messages, std::size_t from);

// An event or an invitation in a result.
struct FoundEvent {
  std::string event_id;
  std::string title;
  std::string location;
  bool all_day = false;
  Day first{};  // Of whole days.
  Day last{};
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
  std::string organizer;  // Empty if the event is the user's own.
  std::string invite_id;
  std::string invite_status;
  std::string occurrence;  // Which one of a repeated event it is.
  std::string rule;
};

// Empty if the object does not have what an event has.
std::optional<FoundEvent> to_event(boost::json::object const& object, Zone const& zone);

// The event of a call that has changed one: a result has only what the call's input does not say.
std::optional<FoundEvent> changed_event(ToolResult const& result, Zone const& zone);

// The items of a list. Of a repeated event only the first.
std::vector<FoundEvent> events_in(ToolResult const& result, Zone const& zone);
std::vector<FoundEvent> all_events_in(ToolResult const& result, char const* list, Zone const& zone);

struct FoundContact {
  std::string name;
  std::string email;
  std::string phone;
  std::string organization;
  std::string user_id;  // Empty if the person is no user of this server.
};
std::vector<FoundContact> contacts_in(ToolResult const& result);

// A text of a result as it is shown: on one line, and not too long.
std::string shown_text(std::string const& text);

}  // namespace runnel::model
