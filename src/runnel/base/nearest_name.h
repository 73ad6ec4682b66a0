#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace runnel::base {

// The name in `known` that the author of `name` most likely meant: only a few letters are wrong, missing,
// extra or swapped. Empty if no name is that similar.
std::optional<std::string> nearest_name(std::string_view name, std::span<std::string const> known);

// "; did you mean NAME?", or an empty string.
std::string did_you_mean(std::string_view name, std::span<std::string const> known);

}  // namespace runnel::base
