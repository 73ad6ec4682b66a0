#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

namespace runnel::base {

// Why a text is not valid YAML, in words for its author.
struct YamlTrouble {
  YAML::Mark mark;
  std::string what;
};

// The parser's message is about its own state ("end of map not found"). This one says what is wrong with the
// line and what to do. A line that is indented by a tab is reported before anything else: it is the most
// frequent cause, and the parser fails at another place.
YamlTrouble explain_yaml(YAML::Exception const& error, std::string_view text);

}  // namespace runnel::base
