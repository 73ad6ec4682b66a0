#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/core/error.h"
#include "runnel/core/fact.h"
#include "runnel/core/json_text.h"
#include "runnel/core/prompt.h"

namespace runnel::runtime {

// How a tool call ended. `result` is all that the model sees of it (TOOL-6).
struct ToolOutcome {
  ToolStatus status = ToolStatus::success;
  JsonText result;
  std::optional<JsonText> error;  // An object; where the status is failure, the same as in `result`.
  std::optional<JsonText> card;
  std::string metadata;  // For the row: "tool_agent_output" as a JSON object; empty: none.
  std::string summary;
};

// A failure as the model gets it: {"status":"failure","error":{"code":…,"message":…}}.
ToolOutcome tool_failure(std::string const& code, std::string const& message);

// Of a call that was started and whose end is not known: never to be read as "it did not happen" (RUN-12).
ToolOutcome outcome_unknown();

// A call, read: what is shown of it.
struct PreparedCall {
  std::string name;                    // "module.method"; the tool's name where it has none.
  JsonText args;                       // As they are shown: what is for display only is not in it.
  JsonText input;                      // What the tool is given.
  std::optional<ToolOutcome> refused;  // It must not run: this is its result.
};

// Who calls, for what. `id` is minted by the server and the key of the call's effect: durable before it
// starts.
struct ToolJob {
  ToolCallId id;
  RunId run;
  UserId user;
  JsonText args;
  bool repeat =
      false;  // It may have been started before: look its effect up, or say OUTCOME_UNKNOWN (RUN-12).

  ToolJob(ToolCallId i, RunId r, UserId u, JsonText a, bool again)
      : id{std::move(i)}, run{std::move(r)}, user{std::move(u)}, args{std::move(a)}, repeat{again} {}
};

// Something that a model can call. On the run's core.
class Tool {
 public:
  Tool() = default;
  Tool(Tool const&) = delete;
  Tool& operator=(Tool const&) = delete;
  virtual ~Tool() = default;

  [[nodiscard]] virtual ToolSpec spec() const = 0;

  // `arguments` as the model wrote them, be they JSON or not.
  [[nodiscard]] virtual PreparedCall prepare(std::string const& arguments) const = 0;

  // What goes wrong is an outcome, for the model to read; an error ends the run. `canceled` soon after
  // `cancel` is requested.
  virtual boost::asio::awaitable<Result<ToolOutcome>> run(ToolJob job,
                                                          std::shared_ptr<base::Cancel> cancel) = 0;
};

// The tools that flows may name.
class Toolbox {
 public:
  Toolbox() = default;
  explicit Toolbox(std::vector<std::unique_ptr<Tool>> tools) : tools_{std::move(tools)} {}

  [[nodiscard]] Tool* find(std::string const& name) const;  // Null: none of that name.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::vector<std::unique_ptr<Tool>> tools_;
};

}  // namespace runnel::runtime
