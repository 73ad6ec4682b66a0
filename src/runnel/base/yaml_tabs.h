#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace runnel::base {

// The first line, counted from 1, that is indented by a tab, which YAML forbids; none: there is no such line.
// For a file that could not be read: its parser's own words do not lead there.
std::optional<std::size_t> line_indented_by_tab(std::string_view text);

}  // namespace runnel::base
