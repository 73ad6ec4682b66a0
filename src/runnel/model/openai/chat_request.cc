#include "runnel/model/openai/chat_request.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"

namespace runnel::model {
namespace {

constexpr std::string_view kJsonNote = "Answer with one JSON object.";
constexpr std::string_view kNoParameters = R"({"type":"object","properties":{}})";

char const* word_of(ToolChoice choice) {
  switch (choice) {
    case ToolChoice::automatic:
      return "auto";
    case ToolChoice::none:
      return "none";
    case ToolChoice::required:
      return "required";
  }
  return "auto";
}

// Servers that render the history with a template parse the arguments and fail if they are not JSON.
// Malformed arguments are therefore shown to the model as such.
std::string arguments_for_history(std::string const& arguments) {
  if (!check_json_text(arguments)) return arguments;
  std::string out;
  JsonObject{out}.text("malformed_arguments", arguments).close();
  return out;
}

void append_tool_call(std::string& out, ToolCall const& call) {
  JsonObject object{out};
  object.text("id", call.id).text("type", "function");
  JsonObject function{object.key("function")};
  function.text("name", call.name).text("arguments", arguments_for_history(call.arguments)).close();
  object.close();
}

void append_message(std::string& out, PromptMessage const& message, bool with_reasoning) {
  JsonObject object{out};
  object.text("role", to_string(message.speaker));
  if (message.speaker == Speaker::tool) object.text("tool_call_id", message.tool_call_id);
  if (message.text.empty() && !message.tool_calls.empty()) {
    object.null("content");
  } else {
    object.text("content", message.text);
  }
  if (!message.tool_calls.empty()) {
    if (with_reasoning) object.text("reasoning_content", message.reasoning);
    append_json_array(object.key("tool_calls"), message.tool_calls, append_tool_call);
  }
  object.close();
}

void append_tool(std::string& out, ToolSpec const& tool) {
  JsonObject object{out};
  object.text("type", "function");
  JsonObject function{object.key("function")};
  function.text("name", tool.name).text("description", tool.description);
  function.raw("parameters", tool.parameters.empty() ? kNoParameters : std::string_view{tool.parameters});
  function.close();
  object.close();
}

bool says_json(std::string_view text) {
  constexpr std::string_view kWord = "json";
  auto const same = [](char a, char b) { return (a | 0x20) == b; };
  return std::search(text.begin(), text.end(), kWord.begin(), kWord.end(), same) != text.end();
}

// Vendors refuse JSON mode if no message names the format.
bool lacks_json_note(CallRequest const& request) {
  return request.json_answer &&
         std::none_of(request.messages.begin(), request.messages.end(),
                      [](PromptMessage const& message) { return says_json(message.text); });
}

// Adds the note after the user's last words, because the system message is the same in every call (FLOW-6).
// Without a user message it adds one: vendors accept any order of speakers.
void add_json_note(std::vector<PromptMessage>& messages) {
  auto const users = std::find_if(messages.rbegin(), messages.rend(), [](PromptMessage const& message) {
    return message.speaker == Speaker::user;
  });
  if (users == messages.rend()) {
    PromptMessage note;
    note.speaker = Speaker::user;
    note.text = kJsonNote;
    messages.push_back(std::move(note));
    return;
  }
  if (!users->text.empty()) users->text += "\n\n";
  users->text += kJsonNote;
}

void append_messages(std::string& out, CallRequest const& request, ProviderOptions const& options) {
  bool const with_reasoning = options.vendor.wants_reasoning_back && options.thinks();
  auto messages = request.messages;
  if (lacks_json_note(request)) add_json_note(messages);
  append_json_array(out, messages, [&](std::string& to, PromptMessage const& message) {
    append_message(to, message, with_reasoning);
  });
}

void add_thinking(JsonObject& body, CallRequest const& request, ProviderOptions const& options) {
  bool const thinks = options.thinks();
  switch (options.vendor.thinking_switch) {
    case ThinkingSwitch::none:
      break;
    case ThinkingSwitch::enable_flag:
      body.boolean("enable_thinking", thinks);
      break;
    case ThinkingSwitch::thinking_type: {
      JsonObject{body.key("thinking")}.text("type", thinks ? "enabled" : "disabled").close();
      break;
    }
  }
  if (thinks && options.vendor.thinking_budget && request.max_output_tokens)
    body.number("thinking_budget", *request.max_output_tokens);
  bool const may_think = thinks || options.vendor.thinking_switch == ThinkingSwitch::none;
  if (may_think && options.thinking != Thinking::off && !options.reasoning_effort.empty())
    body.text("reasoning_effort", options.reasoning_effort);
}

ToolChoice allowed_choice(ToolChoice wanted, ProviderOptions const& options) {
  bool const refused =
      wanted == ToolChoice::required && options.thinks() && !options.vendor.required_tool_while_thinking;
  return refused ? ToolChoice::automatic : wanted;
}

void add_tools(JsonObject& body, CallRequest const& request, ProviderOptions const& options) {
  if (request.tools.empty()) return;
  append_json_array(body.key("tools"), request.tools, append_tool);
  body.text("tool_choice", word_of(allowed_choice(request.tool_choice, options)));
  if (options.vendor.parallel_tool_calls) body.boolean("parallel_tool_calls", true);
}

void add_limit(JsonObject& body, CallRequest const& request, ProviderOptions const& options) {
  auto const limit = request.max_output_tokens ? request.max_output_tokens : options.max_output_tokens;
  if (!limit) return;
  body.number(options.vendor.max_completion_tokens ? "max_completion_tokens" : "max_tokens", *limit);
}

}  // namespace

std::string write_chat_request(CallRequest const& request, ProviderOptions const& options) {
  std::string out;
  JsonObject body{out};
  body.text("model", request.model);
  append_messages(body.key("messages"), request, options);
  body.boolean("stream", true).raw("stream_options", R"({"include_usage":true})");
  add_tools(body, request, options);
  if (request.json_answer && options.vendor.json_mode)
    body.raw("response_format", R"({"type":"json_object"})");
  add_limit(body, request, options);
  add_thinking(body, request, options);
  body.close();
  return out;
}

}  // namespace runnel::model
