#pragma once

#include <boost/asio/awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/core/error.h"
#include "runnel/core/money/call_usage.h"
#include "runnel/core/prompt.h"

namespace runnel::model {

enum class ToolChoice { automatic, none, required };

struct CallRequest {
  std::string model;
  std::vector<PromptMessage> messages;  // Oldest first; the last one is from the user or a tool.
  std::vector<ToolSpec> tools;
  ToolChoice tool_choice = ToolChoice::automatic;
  bool json_answer = false;  // The answer must be one JSON object.
  // For built-in models, which do not read prompts: the user's words, when the run began, the user's time
  // zone, and the name of the answer's contract, which is empty if the answer is prose. The results of the
  // run's earlier stages, a JSON object each; and how many of the messages were there when this stage began.
  std::string user_text;
  std::int64_t now_ms = 0;
  std::string timezone;
  std::string contract;
  std::vector<std::string> earlier_results;
  std::size_t opening_messages = 0;
  std::optional<std::int64_t> max_output_tokens;
};

// The events of a model's stream.
struct TextPiece {
  std::string text;
};
struct ReasoningPiece {
  std::string text;
};
// A fragment of a tool call, only to be shown: the calls to execute are the assembled ones of CallFinished.
struct ToolCallPiece {
  std::size_t index = 0;
  std::string id;    // Never empty in the first fragment of a call; empty in later ones.
  std::string name;  // Like `id`.
  std::string arguments;
};

enum class Finish { stop, length, tool_calls, content_filter };

// The end of a complete answer.
struct CallFinished {
  Finish finish = Finish::stop;
  std::vector<ToolCall> tool_calls;  // Complete, each with an id. Empty unless `finish` is `tool_calls`.
  ReportedUsage usage;
};

// Why a call failed. Each reason has its own code in RUN_ERROR.
enum class Failure {
  unreachable,   // No connection: address, name, TLS.
  timed_out,     // Connecting, the first byte, silence or the whole call took too long.
  rate_limited,  // 429.
  overloaded,    // 5xx, and errors that the provider calls so.
  unauthorized,  // The key is wrong: 401, 403.
  out_of_funds,  // The account has no money: 402, and errors that the provider calls so.
  rejected,      // The request is wrong: 400, 404, 422.
  filtered,      // The provider's moderation refused it.
  cut,           // The stream ended in the middle.
  bad_answer,    // The answer breaks the protocol: no JSON, HTML, an endless line.
  reported,      // An error object in the middle of the stream.
};
char const* to_code(Failure failure);  // "MODEL_RATE_LIMITED".

// The end of an incomplete answer. `message` is for the log and contains no secret.
struct CallFailed {
  Failure failure = Failure::reported;
  std::string message;
  bool accepted = false;   // The provider accepted the call, so it may have used tokens.
  bool retryable = false;  // The same call may be made again if nothing of this one has been shown.
  std::optional<std::chrono::milliseconds> retry_after;
  ReportedUsage usage;  // What was reported before the failure; usually nothing.
};
using CallEvent = std::variant<TextPiece, ReasoningPiece, ToolCallPiece, CallFinished, CallFailed>;

// One answer of a model, read as it arrives.
class Call {
 public:
  Call() = default;
  Call(Call const&) = delete;
  Call& operator=(Call const&) = delete;
  virtual ~Call() = default;

  // The events that have arrived since the previous `next`, at least one. The last event of all is
  // CallFinished or CallFailed. Fails with `canceled` soon after `cancel` is requested. Destroying the call
  // closes its connection, if it has one.
  virtual boost::asio::awaitable<Result<std::vector<CallEvent>>> next(
      std::shared_ptr<base::Cancel> cancel) = 0;

  // Tells the call that its reader could not accept more for this time between two calls of `next`. The model
  // was not silent then, so no timeout counts this time.
  virtual void held_up(std::chrono::steady_clock::duration /*time*/) {}
};

// A source of models.
class Provider {
 public:
  Provider() = default;
  Provider(Provider const&) = delete;
  Provider& operator=(Provider const&) = delete;
  virtual ~Provider() = default;

  // The names of its models, for choosing one and for error messages. A pattern such as `tok-*` stands for a
  // family.
  [[nodiscard]] virtual std::vector<std::string> models() const = 0;

  // Whether a run may name this model. A provider with patterns overrides this.
  [[nodiscard]] virtual bool serves(std::string const& model) const {
    auto const names = models();
    return std::find(names.begin(), names.end(), model) != names.end();
  }

  // For the ledger and the wire: "deepseek".
  [[nodiscard]] virtual std::string name() const = 0;

  // The name under which the price book has this model's price at this provider.
  [[nodiscard]] virtual std::string price_name(std::string const& model) const { return model; }

  // Whether its models think before they answer, as far as that is known.
  [[nodiscard]] virtual bool thinks() const { return false; }

  // Whether they may think, even without showing it: a call that ends without its usage may have used tokens
  // that nobody saw.
  [[nodiscard]] virtual bool may_think() const { return thinks(); }

  // The most tokens that an answer can have, including thoughts, if a call is limited to `max_output_tokens`.
  [[nodiscard]] virtual std::int64_t most_output(std::int64_t max_output_tokens) const {
    return max_output_tokens;
  }

  // The configured limit for the tokens of an answer. Empty if the vendor's own limit applies.
  [[nodiscard]] virtual std::optional<std::int64_t> max_output_tokens() const { return std::nullopt; }

  // Begins one attempt, on the core of the caller.
  virtual std::unique_ptr<Call> call(CallRequest request) = 0;
};

}  // namespace runnel::model
