#pragma once

#include <boost/json/value.hpp>
#include <yaml-cpp/yaml.h>

#include <optional>
#include <string_view>

#include "runnel/base/yaml_fields.h"

namespace runnel::flow {

// The same as JSON. Plain `true`, `false`, `null`, `~` and numbers are those, other scalars and all in quotes
// are texts (YAML 1.2's core schema); maps keep their order. Keys that occur twice become problems.
// None: it is deeper or larger than a schema can be, as one with aliases can become without end; that is a
// problem already.
std::optional<boost::json::value> to_json(YAML::Node const& node, base::YamlProblems& problems);

// The part of `node` that a JSON pointer names, or as much of the way as there is.
YAML::Node find_part(YAML::Node const& node, std::string_view pointer);

}  // namespace runnel::flow
