#pragma once

#include <boost/json/value.hpp>
#include <yaml-cpp/yaml.h>

#include <optional>
#include <string_view>

#include "runnel/base/yaml/fields.h"

namespace runnel::base {

// Converts YAML to JSON. Unquoted `true`, `false`, `null`, `~` (null) and numbers keep their meaning; other
// scalars, and all quoted ones, become texts (YAML 1.2's core schema). Maps keep their order. A key that
// occurs twice becomes a problem. The result is empty if the node is deeper or larger than a schema may be,
// because aliases can make it endless; then a problem has been added.
std::optional<boost::json::value> to_json(YAML::Node const& node, YamlProblems& problems);

// The part of `node` that a JSON pointer names, or the last existing part on the way to it.
YAML::Node find_part(YAML::Node const& node, std::string_view pointer);

}  // namespace runnel::base
