#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "cli/project_cli/command.h"

namespace project_cli {

// Longer inputs are refused.
inline constexpr std::size_t kMostInputBytes = std::size_t{1} << 20U;

// The whole standard input. It must be a JSON object that every part of the server can store, and have the
// call's mode. It is passed on as it was written.
std::variant<std::string, Refusal> read_input(Call const& call);

}  // namespace project_cli
