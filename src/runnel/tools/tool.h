#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/core/card/card.h"
#include "runnel/core/error.h"
#include "runnel/core/fact/fact.h"
#include "runnel/core/json/text.h"
#include "runnel/core/prompt.h"

namespace runnel::tools {

// The name of the one tool through which models act on the user's data (TOOL-1).
inline constexpr char kProjectCli[] = "project_cli";

// The code of a failure whose cause is the input (TOOL-4).
inline constexpr char kInvalidInput[] = "INVALID_ACTION_INPUT";

// How a tool call ended. `result` is the only part that the model sees (TOOL-6).
struct ToolOutcome {
  ToolStatus status = ToolStatus::success;
  JsonText result;
  std::optional<JsonText> error;  // A JSON object; the same as `result` if the status is failure.
  std::optional<JsonText> card;
  std::optional<JsonText> ui_hints;  // What the card is made from. Never leaves the server (RUN-10).
  std::string summary;
};

// A failure as the model sees it: {"status":"failure","error":{"code":…,"message":…}}.
ToolOutcome tool_failure(std::string const& code, std::string const& message);

// The whole outcome as its row keeps it: {tool_name, tool_call_id, tool_call_args, status, result, error,
// ui_hints} (TOOL-7).
std::string tool_agent_output(std::string const& tool, ToolCallId const& call, JsonText const& args,
                              ToolOutcome const& outcome);

// The outcome of a call that was started and whose end is unknown. Nobody may conclude from it that the call
// had no effect (RUN-12).
ToolOutcome outcome_unknown();

// A call whose arguments have been parsed.
struct PreparedCall {
  std::string name;  // "module.method"; the tool's name if the arguments name none.
  JsonText args;     // What the tool is run with and facts show, without display-only members.
  JsonText input;    // The input that ToolStarted shows.
  std::optional<ToolOutcome> refused;  // Set if the call must not run: this is its result.
  bool needs_approval = false;         // Whether somebody must approve the call before it runs (RUN-13).
};

// A call to run, and for whom. `id` is minted by the server and is the key of the call's effect. It is
// durable with the arguments before the call starts, and the call may take effect only while its row is open
// and of this epoch.
struct ToolJob {
  ToolCallId id;
  RunId run;
  UserId user;
  JsonText args;
  Epoch epoch = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline;  // When the run must end. Empty if never.
  // True if the call may have been started before: look up its effect, or return OUTCOME_UNKNOWN (RUN-12).
  bool repeat = false;
  std::shared_ptr<void> place;  // What reserve() returned.
  CardReader reader{};          // Who is shown the card of the result.
};

// A tool that a model can call. Used on the run's core.
class Tool {
 public:
  Tool() = default;
  Tool(Tool const&) = delete;
  Tool& operator=(Tool const&) = delete;
  virtual ~Tool() = default;

  [[nodiscard]] virtual ToolSpec spec() const = 0;

  // The methods that can be called through it, as "module.method". Empty if it has no methods.
  [[nodiscard]] virtual std::vector<std::string> methods() const { return {}; }

  // `arguments` is what the model wrote, valid JSON or not.
  [[nodiscard]] virtual PreparedCall prepare(std::string const& arguments) const = 0;

  // Waits until the tool has room for a call of this method by this user. The room is kept as long as the
  // result is. To be called before the call counts as started: until then, nothing has happened for certain.
  // Fails with `canceled` soon after `cancel` is requested.
  virtual boost::asio::awaitable<Result<std::shared_ptr<void>>> reserve(UserId user, std::string method,
                                                                        std::shared_ptr<base::Cancel> cancel);

  // A failure of the tool is an outcome, which the model reads; an error ends the run. Fails with `canceled`
  // soon after `cancel` is requested.
  virtual boost::asio::awaitable<Result<ToolOutcome>> run(ToolJob job,
                                                          std::shared_ptr<base::Cancel> cancel) = 0;

  // Decides a call that was running when its run has to end: afterwards it can have no effect any more.
  // Returns a success if the effect has happened, and otherwise a failure with this code; empty if that
  // cannot be known.
  virtual boost::asio::awaitable<Result<std::optional<ToolOutcome>>> settle(
      ToolJob job, std::string code, std::shared_ptr<base::Cancel> cancel);
};

// The tools that flows may name.
class Toolbox {
 public:
  Toolbox() = default;
  explicit Toolbox(std::vector<std::unique_ptr<Tool>> tools) : tools_{std::move(tools)} {}

  [[nodiscard]] Tool* find(std::string const& name) const;  // Null if there is none.

 private:
  std::vector<std::unique_ptr<Tool>> tools_;
};

}  // namespace runnel::tools
