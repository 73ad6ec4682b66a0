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

ToolOutcome outcome_unknown() {
  return tool_failure("OUTCOME_UNKNOWN", "the call was interrupted; it is unknown whether it took effect");
}

Tool* Toolbox::find(std::string const& name) const {
  auto const it = std::find_if(tools_.begin(), tools_.end(),
                               [&](std::unique_ptr<Tool> const& tool) { return tool->spec().name == name; });
  return it == tools_.end() ? nullptr : it->get();
}

std::vector<std::string> Toolbox::names() const {
  std::vector<std::string> names;
  for (auto const& tool : tools_)
    names.push_back(tool->spec().name);
  return names;
}

}  // namespace runnel::tools
