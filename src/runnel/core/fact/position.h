#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runnel/core/ids.h"

namespace runnel {

// A place in a run's log: the writer's epoch and the fact's number (SSE-1). On the wire it is `<epoch>-<n>`,
// which is the form of a Redis stream id.
struct Position {
  Epoch epoch = 0;
  std::uint64_t n = 0;  // Starts at 1, and is contiguous in the durable log.

  auto operator<=>(Position const&) const = default;
};

void append_position(std::string& out, Position position);
std::string to_string(Position position);

// Strict: two decimal numbers without sign, spaces or leading zeros, both in range. Empty for anything else.
std::optional<Position> parse_position(std::string_view text);

}  // namespace runnel
