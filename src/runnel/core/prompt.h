#pragma once

#include <string>
#include <vector>

// What a model is told: the messages of one call.
namespace runnel {

enum class Speaker { system, user, assistant, tool };

// A call that a model asks for. `arguments` is the text that it wrote: JSON, where it kept to the format;
// whoever executes the call checks that.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;

  bool operator==(ToolCall const&) const = default;
};

struct PromptMessage {
  Speaker speaker = Speaker::user;
  std::string text;
  std::string reasoning;             // Of an assistant; sent back where its provider demands it.
  std::vector<ToolCall> tool_calls;  // Of an assistant.
  std::string tool_call_id;          // Of a tool: which call this answers.
};

struct ToolSpec {
  std::string name;
  std::string description;
  std::string parameters;  // A JSON Schema as text.
};

}  // namespace runnel
