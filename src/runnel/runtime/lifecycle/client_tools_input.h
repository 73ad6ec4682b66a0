#pragma once

#include <boost/json/fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/core/json/write.h"
#include "runnel/core/prompt.h"
#include "runnel/runtime/lifecycle/refusal.h"

// The tools that a client brings in its input, and its answers to calls of them (AGUI-6).
namespace runnel::runtime {

// A message of the role `tool` in the input. It is an answer if its call is open on the thread. Clients send
// their whole history, so it may also be the result of a tool of the server, or of a call answered before.
struct ClientAnswer {
  ToolCallId call;
  std::string message_id;  // Empty if it has none that can be used.
  std::string content;     // What the model reads.
  std::string error;       // Empty if the tool has not failed.
  bool last = false;       // No other message than those of tools comes behind it.

  bool operator==(ClientAnswer const&) const = default;
};

// What of the input is about the client's tools.
struct ClientToolsInput {
  std::vector<ToolSpec> tools;
  // Those since the user message before the input, in their order.
  std::vector<ClientAnswer> answers;
  // The messages end with those of tools, so `answers` are the input. Otherwise the input is a user message,
  // and `answers` came with it.
  bool is_reply = false;
};

// `body` is the object of the request. Sets what it can read, or returns what is wrong.
std::optional<Refusal> read_client_tools(boost::json::object const& body, ClientToolsInput& input);

// The stored form, as members of an object: nothing if the client brings no tools and answers no call.
void add_client_tools(JsonObject& object, ClientToolsInput const& input);
Result<ClientToolsInput> client_tools_in(boost::json::object const& stored);

// What RUN-2 compares, as members of an object: nothing if the client brings no tools and answers no call.
void add_compared(JsonObject& object, ClientToolsInput const& input);

}  // namespace runnel::runtime
