#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runnel/base/blocking_pool.h"
#include "runnel/base/clock.h"
#include "runnel/base/tokens/tool_credentials.h"
#include "runnel/tools/call_arguments.h"
#include "runnel/tools/cards/cards.h"
#include "runnel/tools/custom/custom_module.h"
#include "runnel/tools/custom/custom_module_runner.h"
#include "runnel/tools/module_access.h"
#include "runnel/tools/post_processor.h"
#include "runnel/tools/program_call.h"
#include "runnel/tools/program_slots.h"
#include "runnel/tools/sandbox.h"
#include "runnel/tools/tool.h"

namespace runnel::tools {

struct ProjectCliOptions {
  std::string program;  // The absolute path of project_cli.
  Sandbox sandbox;
  std::chrono::milliseconds time{std::chrono::seconds{30}};  // How long one call may take.
  std::size_t output_bytes = std::size_t{1} << 20U;
  MethodNames methods;      // Those that models may call, custom ones included.
  MethodNames approvals;    // Those of them that somebody must approve.
  std::string description;  // For the model: what the methods do.
  std::shared_ptr<CustomModules const> custom = std::make_shared<CustomModules const>();
  CustomModuleOptions custom_options{};
  Cards cards{};  // Of the methods that have one; custom ones have none.
};

// What all calls share. It outlives the tool.
struct ProjectCliParts {
  base::ToolCredentials const& credentials;
  base::Clock const& clock;
  ModuleAccess& modules;
  std::shared_ptr<base::BlockingPool> starting;  // Its threads live as long as the server; see run_child().
  std::shared_ptr<ProgramSlots> slots;
  std::shared_ptr<ProgramSlots> custom_slots;  // Apart, so that custom modules delay no others.
};

// The one tool through which models act (TOOL-1). Each call is a process of its own: project_cli in the
// sandbox, with a credential for this call in its environment and a connection to the modules as its
// descriptor 3. It has no shell, and nothing of the model reaches it but the names of an allowed method and
// the input. A method of a custom module is called in the same form, but by the module's own program
// (CustomModuleRunner), and the promises below are not made for it.
//
// A failed call has had no effect and will have none: before the failure is returned, the call is settled
// (ModuleAccess). A call whose effect has happened is a success, even if its program was killed before it
// could say so.
class ProjectCliTool final : public Tool {
 public:
  ProjectCliTool(ProjectCliParts parts, ProjectCliOptions options);

  [[nodiscard]] ToolSpec spec() const override;
  [[nodiscard]] std::vector<std::string> methods() const override;
  [[nodiscard]] PreparedCall prepare(std::string const& arguments) const override;

  // One slot of the user, and of all users.
  boost::asio::awaitable<Result<std::shared_ptr<void>>> reserve(
      UserId user, std::string method, std::shared_ptr<base::Cancel> cancel) override;

  // A call that is repeated after a crash is made again: the modules answer it with its receipt if it has
  // one (RUN-12).
  boost::asio::awaitable<Result<ToolOutcome>> run(ToolJob job, std::shared_ptr<base::Cancel> cancel) override;

  boost::asio::awaitable<Result<std::optional<ToolOutcome>>> settle(
      ToolJob job, std::string code, std::shared_ptr<base::Cancel> cancel) override;

 private:
  boost::asio::awaitable<Result<base::ChildOutcome>> run_program(ToolJob job, ProgramCall call,
                                                                 std::string credential,
                                                                 std::shared_ptr<base::Cancel> cancel);
  // The call of one of the server's own methods, without its card.
  boost::asio::awaitable<Result<ToolOutcome>> run_method(ToolJob job, ProgramCall call,
                                                         std::shared_ptr<base::Cancel> cancel);
  [[nodiscard]] Result<base::SpawnRequest> make_request(ProgramCall call, std::string const& credential);
  boost::asio::awaitable<Result<ToolOutcome>> settle_call(base::ToolGrant grant, CalledMethod called,
                                                          ToolOutcome failed,
                                                          std::shared_ptr<base::Cancel> cancel);

  ProjectCliParts const parts_;
  ProjectCliOptions const options_;
  CustomModuleRunner custom_;
};

}  // namespace runnel::tools
