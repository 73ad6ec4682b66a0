#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

namespace runnel::base {

// Why a text is no YAML, for whoever wrote it.
struct YamlTrouble {
  YAML::Mark mark;
  std::string what;
};

// The parser speaks of its own states ("end of map not found"); this says what is wrong with the line and
// what to do. A line that is indented by a tab is told of first: it is the most frequent reason, and the
// parser stumbles elsewhere.
YamlTrouble explain_yaml(YAML::Exception const& error, std::string_view text);

}  // namespace runnel::base
