#pragma once

#include "runnel/protocol/envelope.h"

namespace runnel::protocol {

// Elements of a JSON array, each with a comma and a line break behind it. The text of an array is what stands
// between its brackets; the last comma is left out.
extern Envelope const kPollElement;

inline constexpr std::string_view kPollSeparator = ",\n";

}  // namespace runnel::protocol
