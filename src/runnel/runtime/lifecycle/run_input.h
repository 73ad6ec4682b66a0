#pragma once

#include <boost/json/fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/runtime/lifecycle/client_tools_input.h"
#include "runnel/runtime/lifecycle/refusal.h"
#include "runnel/runtime/lifecycle/resume_input.h"
#include "runnel/store/rows.h"

namespace runnel::runtime {

// The part of AG-UI's RunAgentInput that a run uses (RUN-1). Context comes from the store, not from the
// client.
struct RunInput {
  std::optional<ThreadId> thread;
  std::optional<RunId> run;
  std::string message_id;  // Empty if the server names it.
  // The newest user message. Empty if there is a `resume`, or if there is none, because the input is a reply.
  std::string text;
  std::string flow;   // Empty for the default flow.
  std::string model;  // Empty if the stages choose their own.
  store::OnBusy on_busy = store::OnBusy::reject;
  ClientToolsInput client;
  std::string agui_version = "0.0";  // "1.0" if the client says so.
  std::int64_t ignored_keys = 0;     // Unknown keys: stock clients may add some (HTTP-1).
  // The answer to an interrupt. Then the messages are not looked at: clients send the whole history again.
  std::optional<ResumeAnswer> resume{};
};

// `body` comes from parse_json. Unknown members are ignored.
std::variant<RunInput, Refusal> parse_run_input(boost::json::value const& body);

// The stored form: enough to start the run later, or on another node.
std::string to_stored(RunInput const& input);
Result<RunInput> from_stored(std::string_view stored);

// Equal for inputs that are the same by RUN-2: in the named thread, the message text, the flow, the model,
// the client's tools and its answers to calls of them.
std::string hash_of(RunInput const& input);

}  // namespace runnel::runtime
