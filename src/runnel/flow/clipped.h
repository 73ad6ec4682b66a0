#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace runnel::flow {

// The first `longest` bytes of a text at most, cut between characters, with "…" after them if the text is
// longer. Bytes that are not UTF-8 become U+FFFD.
std::string clipped(std::string_view text, std::size_t longest);

}  // namespace runnel::flow
