#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runnel/core/prompt.h"

namespace runnel::flow {

// A message of the thread that is in the model's context, oldest first.
struct ContextRow {
  enum class Kind { user, assistant, tool_call, tool_result };
  Kind kind = Kind::user;
  std::string content;    // Text; of a tool call its arguments, of a result its JSON.
  std::string call_id;    // Of a tool call and its result.
  std::string tool;       // Of a tool call.
  std::string reasoning;  // Of a tool call: what was thought before it.
};

struct ContextLimits {
  std::size_t messages = 40;
  std::int64_t tokens = 32'000;  // By estimate; 0: no limit.
};

// The newest rows within both limits, as messages (FLOW-7). Tool calls of one answer, with the words before
// them, are one assistant message, and their results follow it; a call and its result are both there or
// neither, so a group that does not fit is left out whole, and then everything older. A call without a
// result, and the reverse, are left out; so are answers without words. The newest user message is always
// there, whatever its size: the others share what it leaves.
std::vector<PromptMessage> assemble_context(std::vector<ContextRow> const& rows, ContextLimits const& limits);

// RUN-9, automation: where the context is empty or does not end with a user message, the run's input goes to
// its head.
void inject_input(std::vector<PromptMessage>& context, std::string const& input);

}  // namespace runnel::flow
