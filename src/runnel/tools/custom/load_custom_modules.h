#pragma once

#include <string>
#include <vector>

#include "runnel/tools/custom/custom_module.h"

namespace runnel::tools {

struct CustomModuleFiles {
  std::string folder;                        // All YAML files in it are read.
  std::vector<std::string> taken;            // The names of the modules that the server has already.
  std::vector<std::string> closed;           // Files and folders that no module may read.
  char const* const* environment = nullptr;  // The server's own, where the modules' variables come from.
};

struct LoadedCustomModules {
  std::vector<CustomModule> modules;  // Complete if there are no problems.
  std::vector<std::string> problems;  // All mistakes, one line each, with file, line and column.
};

// Reads the custom modules of a folder (docs/custom_modules.md has the form of the files). Whether the
// programs can be started is not checked.
LoadedCustomModules load_custom_modules(CustomModuleFiles const& files);

}  // namespace runnel::tools
