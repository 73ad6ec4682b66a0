#pragma once

#include <string>
#include <vector>

// What a model is told: the messages of one call.
namespace runnel {

enum class Speaker { system, user, assistant, tool };

// The role in a chat completion.
inline char const* to_string(Speaker speaker) {
  switch (speaker) {
    case Speaker::system:
      return "system";
    case Speaker::user:
      return "user";
    case Speaker::assistant:
      return "assistant";
    case Speaker::tool:
      return "tool";
  }
  return "user";
}

// A tool call that a model asks for. `arguments` is the text that the model wrote. It is JSON if the model
// kept to the format, which is checked when the call is executed.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;

  bool operator==(ToolCall const&) const = default;
};

struct PromptMessage {
  Speaker speaker = Speaker::user;
  std::string text;
  std::string reasoning;             // Only of an assistant. Sent back if its provider requires it.
  std::vector<ToolCall> tool_calls;  // Only of an assistant.
  std::string tool_call_id;          // Only of a tool: the call that this answers.
};

struct ToolSpec {
  std::string name;
  std::string description;
  std::string parameters;  // A JSON Schema as text.
};

}  // namespace runnel
