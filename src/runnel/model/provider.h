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
#include "runnel/core/call_usage.h"
#include "runnel/core/error.h"
#include "runnel/core/prompt.h"

namespace runnel::model {

enum class ToolChoice { automatic, none, required };

struct CallRequest {
  std::string model;
  std::vector<PromptMessage> messages;  // Oldest first; the last is the user's or a tool's.
  std::vector<ToolSpec> tools;
  ToolChoice tool_choice = ToolChoice::automatic;
  bool json_answer = false;  // The answer is to be one JSON object.
  // For built-in models, which do not read prompts: what the user said, and which contract the answer has;
  // empty: prose.
  std::string user_text;
  std::string contract;
  std::optional<std::int64_t> max_output_tokens;
};

// What a model's stream brings.
struct TextPiece {
  std::string text;
};
struct ReasoningPiece {
  std::string text;
};
// A fragment of a tool call, for showing; only the assembled calls of CallFinished may be executed.
struct ToolCallPiece {
  std::size_t index = 0;
  std::string id;    // In the first fragment of a call, never empty there; empty in later ones.
  std::string name;  // The same.
  std::string arguments;
};

enum class Finish { stop, length, tool_calls, content_filter };

// The end of an answer that came whole.
struct CallFinished {
  Finish finish = Finish::stop;
  std::vector<ToolCall> tool_calls;  // Whole, each with an id; none where `finish` is `length`.
  ReportedUsage usage;
};

// Why a call failed; each has a code of its own in RUN_ERROR.
enum class Failure {
  unreachable,   // No connection: address, name, TLS.
  timed_out,     // Connecting, the first byte, silence or the whole call took too long.
  rate_limited,  // 429.
  overloaded,    // 5xx and what the provider calls so.
  unauthorized,  // The key: 401, 403.
  out_of_funds,  // The account's money: 402 and what the provider calls so.
  rejected,      // The request: 400, 404, 422.
  filtered,      // The provider's moderation.
  cut,           // The stream ended in the middle.
  bad_answer,    // Not what was agreed: no JSON, HTML, a line without end.
  reported,      // An error object in the middle of the stream.
};
char const* to_code(Failure failure);  // "MODEL_RATE_LIMITED".

// The end of an answer that did not come whole. `message` is for the log and names no secret.
struct CallFailed {
  Failure failure = Failure::reported;
  std::string message;
  bool accepted = false;   // The provider took the call, so it may have used tokens.
  bool retryable = false;  // The same call may be made again, if nobody was shown anything of this one.
  std::optional<std::chrono::milliseconds> retry_after;
  ReportedUsage usage;  // What came before the failure; usually nothing.
};
using CallEvent = std::variant<TextPiece, ReasoningPiece, ToolCallPiece, CallFinished, CallFailed>;

// One answer of a model, read as it arrives.
class Call {
 public:
  Call() = default;
  Call(Call const&) = delete;
  Call& operator=(Call const&) = delete;
  virtual ~Call() = default;

  // What has arrived since the last call, at least one event; the last event of all is CallFinished
  // or CallFailed. Fails with `canceled` soon after `cancel` is requested; destroying the call closes what it
  // holds.
  virtual boost::asio::awaitable<Result<std::vector<CallEvent>>> next(
      std::shared_ptr<base::Cancel> cancel) = 0;

  // Between two calls of `next`, the reader could not take more for so long: that is no silence of the
  // model's, so no timeout counts it.
  virtual void held_up(std::chrono::steady_clock::duration /*time*/) {}
};

// A source of models.
class Provider {
 public:
  Provider() = default;
  Provider(Provider const&) = delete;
  Provider& operator=(Provider const&) = delete;
  virtual ~Provider() = default;

  // The names it serves, for choosing and for error messages; a pattern such as `tok-*` for a family.
  [[nodiscard]] virtual std::vector<std::string> models() const = 0;

  // Whether a run may name this model. A provider with patterns says itself what they match.
  [[nodiscard]] virtual bool serves(std::string const& model) const {
    auto const names = models();
    return std::find(names.begin(), names.end(), model) != names.end();
  }

  // For the ledger and the wire: "deepseek".
  [[nodiscard]] virtual std::string name() const = 0;

  // Under which name the price book has what this model costs here.
  [[nodiscard]] virtual std::string price_name(std::string const& model) const { return model; }

  // Whether its models think before they answer, as far as one can know.
  [[nodiscard]] virtual bool thinks() const { return false; }

  // Whether they may think, be it unseen: a call that ends without its usage may have used tokens that nobody
  // saw.
  [[nodiscard]] virtual bool may_think() const { return thinks(); }

  // The most tokens that an answer can have, thoughts included, where a call is limited to
  // `max_output_tokens`.
  [[nodiscard]] virtual std::int64_t most_output(std::int64_t max_output_tokens) const {
    return max_output_tokens;
  }

  // The most tokens that it is configured to let an answer have; none: the vendor's own limit.
  [[nodiscard]] virtual std::optional<std::int64_t> max_output_tokens() const { return std::nullopt; }

  // One attempt. On the core that it is called on.
  virtual std::unique_ptr<Call> call(CallRequest request) = 0;
};

}  // namespace runnel::model
