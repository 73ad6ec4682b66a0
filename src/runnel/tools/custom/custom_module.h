#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/base/schema/json_schema.h"
#include "runnel/core/json/text.h"
#include "runnel/tools/tool.h"

// Modules that a team adds without recompiling the server: a YAML file and a program (TOOL-13).
namespace runnel::tools {

struct CustomMethod {
  CustomMethod(std::string method, base::JsonSchema schema_of_input)
      : name{std::move(method)}, schema{std::move(schema_of_input)} {}

  std::string name;  // Without the module's.
  base::JsonSchema schema;
  std::string input_schema;  // The schema as JSON, on one line.
  std::string description;   // For the model.
  bool needs_approval = false;
  // Whether a call that may have been started before can be made again: the method changes nothing, or its
  // program recognises the id of the call.
  bool idempotent = false;
  std::vector<std::string> flows;  // Those whose stages may call it. Empty means all.
};

struct CustomModule {
  std::string name;
  std::string file;                       // The YAML file, for messages.
  std::string program;                    // An absolute path.
  std::vector<std::string> readable;      // Files and folders that the program may read.
  std::vector<std::string> variables;     // NAME=value: what the program gets of the server's environment.
  bool network = false;                   // Whether the program may open sockets.
  std::int64_t processes = 0;             // How many processes and threads all its calls may start.
  std::int64_t memory_mb = 256;           // Address space of each process.
  std::optional<std::int64_t> timeout_s;  // Empty for the one of all tools.
  std::vector<CustomMethod> methods;
};

// A method together with its module.
struct CustomCallee {
  CustomModule const* module = nullptr;
  CustomMethod const* method = nullptr;

  [[nodiscard]] std::string full_name() const { return module->name + "." + method->name; }
};

// All custom modules of a server. It never changes.
class CustomModules {
 public:
  CustomModules() : CustomModules{std::vector<CustomModule>{}} {}
  explicit CustomModules(std::vector<CustomModule> modules);
  CustomModules(CustomModules const&) = delete;
  CustomModules& operator=(CustomModules const&) = delete;

  [[nodiscard]] std::vector<CustomModule> const& modules() const { return modules_; }
  // In the order of the files.
  [[nodiscard]] std::vector<CustomCallee> const& methods() const { return methods_; }
  // `name` is "module.method". Empty if no custom module has it.
  [[nodiscard]] std::optional<CustomCallee> find(std::string_view name) const;

 private:
  std::vector<CustomModule> const modules_;
  std::vector<CustomCallee> methods_;
  std::map<std::string, CustomCallee, std::less<>> by_name_;
};

// Why an input cannot be given to the method, with the method's schema, so that the model can correct itself
// (TOOL-4). Empty if it can.
std::optional<ToolOutcome> refuse_input(CustomCallee const& callee, JsonText const& input);

}  // namespace runnel::tools
