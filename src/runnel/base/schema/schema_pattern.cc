#include "runnel/base/schema/schema_pattern.h"

namespace runnel::base {

std::optional<std::regex> compile_pattern(std::string const& pattern) {
  if (pattern.find('\0') != std::string::npos) return std::nullopt;  // valijson reads up to it.
  try {
    // An extension of libstdc++: all ways are followed at the same time.
    return std::regex{pattern, std::regex::ECMAScript | std::regex_constants::__polynomial};
  } catch (std::regex_error const&) {
    return std::nullopt;
  }
}

}  // namespace runnel::base
