#pragma once

#include <string>

#include "runnel/tools/tool.h"

namespace runnel::tools {

// A tool without effects, for trying out flows (setting tools.test). It is called as `project_cli` with
// {module, method, input}, waits for input.ms milliseconds (at most a minute), and does what the method says:
// `echo` and `slow` return the input, `part` succeeds partially, and `fail` fails. Any other method is
// refused. A call that is repeated after a crash returns OUTCOME_UNKNOWN, because the tool keeps no record of
// its calls.
class EchoTool final : public Tool {
 public:
  [[nodiscard]] ToolSpec spec() const override;
  [[nodiscard]] PreparedCall prepare(std::string const& arguments) const override;
  boost::asio::awaitable<Result<ToolOutcome>> run(ToolJob job, std::shared_ptr<base::Cancel> cancel) override;
};

}  // namespace runnel::tools
