#include "runnel/tools/tool.h"

#include <algorithm>

#include "runnel/core/json/write.h"

namespace runnel::tools {

ToolOutcome tool_failure(std::string const& code, std::string const& message) {
  std::string text;
  JsonObject object{text};
  object.text("status", "failure");
  JsonObject error{object.key("error")};
  error.text("code", code).text("message", message).close();
  object.close();

  ToolOutcome outcome;
  outcome.status = ToolStatus::failure;
  outcome.result = JsonText::parse(text).value();
  outcome.error = outcome.result;
  outcome.summary = code;
  return outcome;
}

std::string tool_agent_output(std::string const& tool, ToolCallId const& call, JsonText const& args,
                              ToolOutcome const& outcome) {
  auto const or_null = [](std::optional<JsonText> const& value) { return value ? value->str() : "null"; };
  std::string text;
  JsonObject{text}
      .text("tool_name", tool)
      .text("tool_call_id", call.text)
      .raw("tool_call_args", args.str())
      .text("status", to_string(outcome.status))
      .raw("result", outcome.result.str())
      .raw("error", or_null(outcome.error))
      .raw("ui_hints", or_null(outcome.ui_hints))
      .close();
  return text;
}

ToolOutcome outcome_unknown() {
  return tool_failure("OUTCOME_UNKNOWN", "the call was interrupted; it is unknown whether it took effect");
}

boost::asio::awaitable<Result<std::shared_ptr<void>>> Tool::reserve(
    UserId /*user*/, std::string /*method*/, std::shared_ptr<base::Cancel> /*cancel*/) {
  co_return std::shared_ptr<void>{};
}

boost::asio::awaitable<Result<std::optional<ToolOutcome>>> Tool::settle(
    ToolJob /*job*/, std::string /*code*/, std::shared_ptr<base::Cancel> /*cancel*/) {
  co_return std::nullopt;
}

Tool* Toolbox::find(std::string const& name) const {
  auto const it = std::find_if(tools_.begin(), tools_.end(),
                               [&](std::unique_ptr<Tool> const& tool) { return tool->spec().name == name; });
  return it == tools_.end() ? nullptr : it->get();
}

}  // namespace runnel::tools
