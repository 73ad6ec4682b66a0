#pragma once

#include <optional>
#include <regex>
#include <string>
#include <unordered_map>

namespace runnel::base {

// A regular expression that takes polynomial time for any text: what is matched comes from models and
// clients, and a matcher that tries one way after the other can be made to try for ever. Empty if the text is
// no regular expression, contains a NUL, or refers back to a part of the match, which cannot be matched in
// this way.
std::optional<std::regex> compile_pattern(std::string const& pattern);

// Compiled patterns by their texts.
using Patterns = std::unordered_map<std::string, std::regex>;

}  // namespace runnel::base
