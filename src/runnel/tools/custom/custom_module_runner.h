#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runnel/base/blocking_pool.h"
#include "runnel/base/cancel.h"
#include "runnel/base/process/child.h"
#include "runnel/tools/custom/custom_module.h"
#include "runnel/tools/sandbox.h"
#include "runnel/tools/tool.h"

namespace runnel::tools {

struct CustomModuleOptions {
  Sandbox sandbox;                                           // Before a module's own needs are added.
  std::chrono::milliseconds time{std::chrono::seconds{30}};  // How long one call may take.
  std::size_t output_bytes = std::size_t{256} << 10U;
};

// The sandbox in which the program of a module runs.
Sandbox sandbox_for(CustomModule const& module, Sandbox sandbox);

// Runs the programs of custom modules. A program gets its input and output as project_cli does (TOOL-2,
// TOOL-5), but neither a credential nor a connection to the server: what it does is no business of the
// server's. So nobody but the program knows whether a call that was broken off has taken effect.
class CustomModuleRunner {
 public:
  CustomModuleRunner(CustomModuleOptions options, std::shared_ptr<base::BlockingPool> starting)
      : options_{std::move(options)}, starting_{std::move(starting)} {}

  // A call that may have been started before is made again only if its method is idempotent; otherwise the
  // outcome is OUTCOME_UNKNOWN (RUN-12). Fails with `canceled` soon after `cancel` is requested.
  boost::asio::awaitable<Result<ToolOutcome>> run(ToolJob job, CustomCallee callee,
                                                  std::shared_ptr<base::Cancel> cancel);

 private:
  CustomModuleOptions const options_;
  std::shared_ptr<base::BlockingPool> const starting_;
};

}  // namespace runnel::tools
