#include "runnel/runtime/lifecycle/client_tools_input.h"

#include <boost/json.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "runnel/core/json/members.h"
#include "runnel/runtime/lifecycle/message_text.h"

namespace runnel::runtime {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostTools = 128;
constexpr std::size_t kMostToolBytes = std::size_t{64} * 1024;
constexpr std::size_t kMostAnswers = 256;
constexpr std::size_t kLongestName = 64;

// The names that every provider of models accepts.
bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// "'tools' item 3" for the third one.
std::string item(char const* list, std::size_t index) {
  return "'" + std::string{list} + "' item " + std::to_string(index + 1);
}

json::value const* member(json::object const& object, std::string_view key) {
  auto const* value = object.if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

// Providers require that the arguments are an object, and many clients leave that out.
std::variant<std::string, Refusal> read_parameters(json::value const* parameters, std::string const& where) {
  if (parameters == nullptr) return std::string{R"({"type":"object","properties":{}})"};
  auto const* const given = parameters->if_object();
  if (given == nullptr)
    return invalid_request(where + ": 'parameters' must be a JSON Schema, which is an object");
  if (text_at(*given, "type") == "object") return json::serialize(*given);
  if (given->contains("type")) return invalid_request(where + ": 'parameters' must have the type 'object'");
  json::object completed{{"type", "object"}};
  completed.insert(given->begin(), given->end());
  return json::serialize(completed);
}

std::variant<ToolSpec, Refusal> read_tool(json::value const& value, std::size_t index) {
  auto const where = item("tools", index);
  auto const* const object = value.if_object();
  if (object == nullptr) return invalid_request(where + " must be an object with a 'name'");
  ToolSpec tool;
  tool.name = text_at(*object, "name");
  if (!is_tool_name(tool.name))
    return invalid_request(where + ": 'name' must be 1 to 64 letters, digits, '_' and '-'");
  auto const* const description = member(*object, "description");
  if (description != nullptr && !description->is_string())
    return invalid_request(where + ": 'description' must be a string");
  tool.description = text_at(*object, "description");
  auto parameters = read_parameters(member(*object, "parameters"), where);
  if (auto* refusal = std::get_if<Refusal>(&parameters)) return std::move(*refusal);
  tool.parameters = std::move(std::get<std::string>(parameters));
  return tool;
}

std::optional<Refusal> read_tools(json::object const& body, ClientToolsInput& input) {
  auto const* const value = member(body, "tools");
  if (value == nullptr) return std::nullopt;
  auto const* const list = value->if_array();
  if (list == nullptr) return invalid_request("'tools' must be a list of tools");
  if (list->size() > kMostTools) {
    return invalid_request("'tools' has " + std::to_string(list->size()) + " tools; at most " +
                           std::to_string(kMostTools) + " are allowed");
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto read = read_tool((*list)[i], i);
    if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
    auto& tool = std::get<ToolSpec>(read);
    bool const twice = std::any_of(input.tools.begin(), input.tools.end(),
                                   [&](ToolSpec const& other) { return other.name == tool.name; });
    if (twice) return invalid_request(item("tools", i) + ": another one is also called '" + tool.name + "'");
    bytes += tool.name.size() + tool.description.size() + tool.parameters.size();
    input.tools.push_back(std::move(tool));
  }
  if (bytes <= kMostToolBytes) return std::nullopt;
  return invalid_request("the names, descriptions and parameters of 'tools' have " + std::to_string(bytes) +
                         " bytes; at most " + std::to_string(kMostToolBytes) + " are allowed");
}

std::string_view role_of(json::value const& message) {
  auto const* const object = message.if_object();
  auto const* const role = object != nullptr ? object->if_contains("role") : nullptr;
  return role != nullptr && role->is_string() ? std::string_view{role->get_string()} : std::string_view{};
}

// Messages that are only for the client's screen.
bool is_beside(json::value const& message) {
  auto const role = role_of(message);
  return role == "reasoning" || role == "activity";
}

std::variant<ClientAnswer, Refusal> read_answer(json::object const& message) {
  ClientAnswer answer;
  answer.call = ToolCallId{text_at(message, "toolCallId")};
  if (answer.call.empty())
    return invalid_request("a tool message needs 'toolCallId', the call that it answers");
  auto const* const error = member(message, "error");
  if (error != nullptr && !error->is_string())
    return invalid_request("'error' of a tool message must be a string");
  answer.error = text_at(message, "error");
  auto content = content_text(message.if_contains("content"), "a tool message");
  auto const* const refusal = std::get_if<Refusal>(&content);
  if (refusal != nullptr && answer.error.empty()) return *refusal;
  if (refusal == nullptr) answer.content = std::move(std::get<std::string>(content));
  if (answer.content.empty()) answer.content = answer.error;
  auto id = text_at(message, "id");
  if (is_usable_id(id)) answer.message_id = std::move(id);
  return answer;
}

// Before the user message that is the input, or before the tool messages that are; back to the user message
// before it.
std::optional<Refusal> read_answers(json::object const& body, ClientToolsInput& input) {
  auto const* const value = member(body, "messages");
  auto const* const list = value != nullptr ? value->if_array() : nullptr;
  if (list == nullptr) return std::nullopt;  // Refused elsewhere, in better words.
  auto const last = std::find_if_not(list->rbegin(), list->rend(), is_beside);
  if (last == list->rend()) return std::nullopt;
  input.is_reply = role_of(*last) == "tool";
  bool is_last = input.is_reply;
  for (auto message = input.is_reply ? last : last + 1; message != list->rend(); ++message) {
    auto const role = role_of(*message);
    if (role == "user" || (!input.is_reply && input.answers.size() == kMostAnswers)) break;
    if (role != "tool") {
      is_last = is_last && is_beside(*message);
      continue;
    }
    auto read = read_answer(message->get_object());
    auto* const refusal = std::get_if<Refusal>(&read);
    if (refusal != nullptr && is_last) return std::move(*refusal);
    if (refusal != nullptr) continue;
    auto& answer = std::get<ClientAnswer>(read);
    answer.last = is_last;
    input.answers.push_back(std::move(answer));
  }
  std::reverse(input.answers.begin(), input.answers.end());
  if (input.answers.size() <= kMostAnswers) return std::nullopt;
  return invalid_request("there are " + std::to_string(input.answers.size()) +
                         " tool messages since the newest user message; at most " +
                         std::to_string(kMostAnswers) + " are allowed; send a user message");
}

void append_tools(std::string& out, std::vector<ToolSpec> const& tools) {
  append_json_array(out, tools, [](std::string& into, ToolSpec const& tool) {
    JsonObject{into}
        .text("name", tool.name)
        .text("description", tool.description)
        .raw("parameters", tool.parameters)
        .close();
  });
}

void append_answers(std::string& out, std::vector<ClientAnswer> const& answers, bool with_ids) {
  append_json_array(out, answers, [with_ids](std::string& into, ClientAnswer const& answer) {
    JsonObject object{into};
    object.text("call", answer.call.text).text("content", answer.content).text("error", answer.error);
    if (with_ids) object.text("id", answer.message_id);
    object.close();
  });
}

ToolSpec stored_tool(json::object const& stored) {
  return {text_at(stored, "name"), text_at(stored, "description"),
          json::serialize(object_at(stored, "parameters"))};
}

ClientAnswer stored_answer(json::object const& stored) {
  return {ToolCallId{text_at(stored, "call")}, text_at(stored, "id"), text_at(stored, "content"),
          text_at(stored, "error"), true};
}

}  // namespace

std::optional<Refusal> read_client_tools(json::object const& body, ClientToolsInput& input) {
  if (auto refusal = read_tools(body, input)) return refusal;
  return read_answers(body, input);
}

void add_client_tools(JsonObject& object, ClientToolsInput const& input) {
  if (!input.tools.empty()) append_tools(object.key("tools"), input.tools);
  if (input.is_reply) append_answers(object.key("answers"), input.answers, true);
}

Result<ClientToolsInput> client_tools_in(json::object const& stored) {
  ClientToolsInput input;
  for (auto const& tool : list_at(stored, "tools"))
    input.tools.push_back(stored_tool(as_object(tool)));
  input.is_reply = stored.contains("answers");
  for (auto const& answer : list_at(stored, "answers"))
    input.answers.push_back(stored_answer(as_object(answer)));
  bool const readable = std::all_of(input.tools.begin(), input.tools.end(),
                                    [](auto const& tool) { return !tool.name.empty(); }) &&
                        std::none_of(input.answers.begin(), input.answers.end(),
                                     [](auto const& answer) { return answer.call.empty(); });
  if (readable) return input;
  return Error{Errc::internal,
               "a run's stored input has a tool without a name, or an answer without its call"};
}

void add_compared(JsonObject& object, ClientToolsInput const& input) {
  if (!input.tools.empty()) append_tools(object.key("tools"), input.tools);
  if (input.is_reply) append_answers(object.key("answers"), input.answers, false);
}

}  // namespace runnel::runtime
