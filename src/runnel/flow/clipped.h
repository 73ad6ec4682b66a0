#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace runnel::flow {

// At most `longest` bytes of a text, whole characters, and "…" where it goes on. Bytes that are no UTF-8
// become U+FFFD.
std::string clipped(std::string_view text, std::size_t longest);

}  // namespace runnel::flow
