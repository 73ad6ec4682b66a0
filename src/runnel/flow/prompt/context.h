#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runnel/core/prompt.h"

namespace runnel::flow {

// A message of the thread that belongs to the model's context.
struct ContextRow {
  enum class Kind { user, assistant, tool_call, tool_result };
  Kind kind = Kind::user;
  std::string content;    // The text; for a tool call its arguments, for a result its JSON.
  std::string call_id;    // For a tool call and its result.
  std::string tool;       // For a tool call.
  std::string reasoning;  // For a tool call: the reasoning before it.
  bool is_input = false;  // For a result: it is the run's own input, or came with it (AGUI-6).
};

struct ContextLimits {
  std::size_t messages = 40;
  std::int64_t tokens = 32'000;  // By estimate; 0 means no limit.
};

// The newest rows within both limits, as messages (FLOW-7). `rows` begins with the oldest. The tool calls of
// one answer, with the words before them, become one assistant message, and their results follow it. A call
// and its result are never separated: a group that does not fit is left out as a whole, and then everything
// older is left out too. Also left out are a call without a result, a result without a call, and an answer
// with neither words nor calls. The newest user message is always included, whatever its size, and so are
// calls whose results are the run's input; the others share what these leave.
std::vector<PromptMessage> assemble_context(std::vector<ContextRow> const& rows, ContextLimits const& limits);

bool has_user_message(std::vector<PromptMessage> const& context);

// RUN-9, automation: if the context is empty or does not end with a user message, inserts the run's input at
// its beginning.
void inject_input(std::vector<PromptMessage>& context, std::string const& input);

}  // namespace runnel::flow
