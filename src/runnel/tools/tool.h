#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/core/error.h"
#include "runnel/core/fact/fact.h"
#include "runnel/core/json/text.h"
#include "runnel/core/prompt.h"

namespace runnel::tools {

// How a tool call ended. `result` is the only part that the model sees (TOOL-6).
struct ToolOutcome {
  ToolStatus status = ToolStatus::success;
  JsonText result;
  std::optional<JsonText> error;  // A JSON object; the same as `result` if the status is failure.
  std::optional<JsonText> card;
  std::string metadata;  // The row's "tool_agent_output": a JSON object; empty if there is none.
  std::string summary;
};

// A failure as the model sees it: {"status":"failure","error":{"code":…,"message":…}}.
ToolOutcome tool_failure(std::string const& code, std::string const& message);

// The outcome of a call that was started and whose end is unknown. Nobody may conclude from it that the call
// had no effect (RUN-12).
ToolOutcome outcome_unknown();

// A call whose arguments have been parsed.
struct PreparedCall {
  std::string name;  // "module.method"; the tool's name if the arguments name none.
  JsonText args;     // What the tool is run with and facts show, without display-only members.
  JsonText input;    // The input that ToolStarted shows.
  std::optional<ToolOutcome> refused;  // Set if the call must not run: this is its result.
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
};

// A tool that a model can call. Used on the run's core.
class Tool {
 public:
  Tool() = default;
  Tool(Tool const&) = delete;
  Tool& operator=(Tool const&) = delete;
  virtual ~Tool() = default;

  [[nodiscard]] virtual ToolSpec spec() const = 0;

  // `arguments` is what the model wrote, valid JSON or not.
  [[nodiscard]] virtual PreparedCall prepare(std::string const& arguments) const = 0;

  // A failure of the tool is an outcome, which the model reads; an error ends the run. Fails with `canceled`
  // soon after `cancel` is requested.
  virtual boost::asio::awaitable<Result<ToolOutcome>> run(ToolJob job,
                                                          std::shared_ptr<base::Cancel> cancel) = 0;
};

// The tools that flows may name.
class Toolbox {
 public:
  Toolbox() = default;
  explicit Toolbox(std::vector<std::unique_ptr<Tool>> tools) : tools_{std::move(tools)} {}

  [[nodiscard]] Tool* find(std::string const& name) const;  // Null if there is none.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::vector<std::unique_ptr<Tool>> tools_;
};

}  // namespace runnel::tools
