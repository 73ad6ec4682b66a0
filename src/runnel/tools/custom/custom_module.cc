#include "runnel/tools/custom/custom_module.h"

#include <boost/json/value.hpp>

#include "runnel/core/json/parse.h"
#include "runnel/core/json/write.h"
#include "runnel/tools/post_processor.h"

namespace runnel::tools {

CustomModules::CustomModules(std::vector<CustomModule> modules) : modules_{std::move(modules)} {
  for (auto const& module : modules_) {
    for (auto const& method : module.methods) {
      CustomCallee const callee{&module, &method};
      methods_.push_back(callee);
      by_name_.emplace(callee.full_name(), callee);
    }
  }
}

std::optional<CustomCallee> CustomModules::find(std::string_view name) const {
  auto const found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

std::optional<ToolOutcome> refuse_input(CustomCallee const& callee, JsonText const& input) {
  std::string what;
  for (auto const& violation : callee.method->schema.check(parse_stored_json(input.str()).value()))
    what.append(what.empty() ? "" : "; ").append(to_string(violation));
  if (what.empty()) return std::nullopt;
  std::string error;
  JsonObject{error}
      .text("code", kInvalidInput)
      .text("message", callee.full_name() + " input does not match method schema: " + what)
      .text("module", callee.module->name)
      .text("method", callee.method->name)
      .raw("input_schema", callee.method->input_schema)
      .close();
  return failure(error);
}

}  // namespace runnel::tools
