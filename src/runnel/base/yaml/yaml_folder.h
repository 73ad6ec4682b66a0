#pragma once

#include <optional>
#include <string>
#include <vector>

namespace runnel::base {

// The names of the YAML files in a folder, in alphabetical order. Null if the folder cannot be read.
std::optional<std::vector<std::string>> yaml_files_in(std::string const& folder);

// Empty if it is not a regular file or reading it fails.
std::optional<std::string> read_text_file(std::string const& path);

}  // namespace runnel::base
