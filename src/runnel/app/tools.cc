#include "runnel/app/tools.h"

#include <memory>
#include <utility>
#include <vector>

#include "runnel/tools/echo_tool.h"

namespace runnel::app {

tools::Toolbox make_toolbox(Settings const& settings) {
  std::vector<std::unique_ptr<tools::Tool>> tools;
  if (settings.test_tool) tools.push_back(std::make_unique<tools::EchoTool>());
  return tools::Toolbox{std::move(tools)};
}

}  // namespace runnel::app
