#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runnel/core/fact/fact.h"
#include "runnel/runtime/lifecycle/client_tools_input.h"
#include "runnel/store/client_calls.h"
#include "runnel/store/rows.h"

// How a run closes the calls to its client's tools with which an earlier run of its thread has ended
// (AGUI-6).
namespace runnel::runtime {

// The results that a run writes when it begins, and what it tells of them.
struct Closings {
  std::vector<store::NewMessage> rows;
  std::vector<ClientCallClosed> facts;
  // The answers as AG-UI messages, without those whose ids are not the client's own: the client that sent
  // them would take them for others. Empty if there are none.
  std::optional<JsonText> shown;
};

// What of the input's tool messages answers open calls.
struct MatchedAnswers {
  std::vector<ClientAnswer> answers;
  std::set<std::string> taken;  // The ids of these messages that other messages of the thread have.
  bool has_repeat = false;      // One of the last messages is the result of a call to a client's tool, again.
};

// Closes each of the open calls: with the client's answer, or as abandoned if it has none. An answer's row
// has the id of the client's message, unless that is missing or among `taken`.
Closings close_calls(std::vector<store::OpenClientCall> const& open, std::vector<ClientAnswer> const& answers,
                     std::set<std::string> taken);

// The name of the tool whose call or result the message is. Empty if it is neither.
std::string tool_of(std::string const& metadata);

}  // namespace runnel::runtime
