#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runnel/core/prompt.h"

// For the tests of prompts.
namespace runnel::flow {

// Messages in a readable form. Each has a line with its speaker, its reasoning in parentheses, its text, and
// one line per tool call.
inline std::string printed(std::vector<PromptMessage> const& messages) {
  std::string out;
  for (auto const& message : messages) {
    out += "=== ";
    out += to_string(message.speaker);
    if (!message.tool_call_id.empty()) out += " " + message.tool_call_id;
    out += '\n';
    if (!message.reasoning.empty()) out += "(" + message.reasoning + ")\n";
    if (!message.text.empty()) out += message.text + '\n';
    for (auto const& call : message.tool_calls)
      out += "--- " + call.id + ": " + call.name + " " + call.arguments + '\n';
  }
  return out;
}

inline PromptMessage message_of(Speaker speaker, std::string text) {
  PromptMessage message;
  message.speaker = speaker;
  message.text = std::move(text);
  return message;
}

}  // namespace runnel::flow
