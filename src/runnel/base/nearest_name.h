#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace runnel::base {

// The one of `known` that whoever wrote `name` most likely meant: few letters are wrong, missing, too many or
// swapped. None: nothing is that near.
std::optional<std::string> nearest_name(std::string_view name, std::span<std::string const> known);

// "; did you mean NAME?", or nothing.
std::string did_you_mean(std::string_view name, std::span<std::string const> known);

}  // namespace runnel::base
