#pragma once

#include <string>

#include "runnel/runtime/tool.h"

namespace runnel::runtime {

// A tool for trying flows without any that has an effect (setting tools.test): it is called like
// `project_cli`, {module, method, input}, and does what the method says. `echo` gives its input back, `slow`
// does so after input.ms milliseconds, `part` succeeds in part, `fail` fails; anything else is refused. Asked
// again after a crash, it says OUTCOME_UNKNOWN: it keeps no receipts.
class TestTool final : public Tool {
 public:
  [[nodiscard]] ToolSpec spec() const override;
  [[nodiscard]] PreparedCall prepare(std::string const& arguments) const override;
  boost::asio::awaitable<Result<ToolOutcome>> run(ToolJob job, std::shared_ptr<base::Cancel> cancel) override;
};

}  // namespace runnel::runtime
