#pragma once

#include <cstdint>

namespace runnel {

// A way to put a run's log on the wire: a dialect in an envelope. The value is the number of a row in the
// table in protocol/wires.cc. Only that file knows more about it.
enum class Wire : std::uint8_t {};

}  // namespace runnel
