#pragma once

#include <string>
#include <vector>

#include "runnel/modules/method.h"
#include "runnel/tools/custom/custom_module.h"

namespace runnel::app {

// A method as models and clients are told of it.
struct ListedMethod {
  std::string name;  // module.method
  std::string description;
  std::string input_schema;     // JSON on one line.
  bool needs_approval = false;  // By its module; settings may ask for more.
};

// The methods of the server's own modules and of custom ones.
std::vector<ListedMethod> list_methods(std::vector<modules::Method> const& own,
                                       tools::CustomModules const& custom);

}  // namespace runnel::app
