#pragma once

#include <string>
#include <string_view>

namespace runnel {

// Converts a member's name to its form in a JSON pointer (RFC 6901), where `~` and `/` are escaped, and back.
std::string to_pointer_token(std::string_view name);
std::string from_pointer_token(std::string_view token);

// The same for a message about a member whose name came from outside. A name of more than 64 bytes is cut
// between two characters, and "…" is added.
std::string to_told_token(std::string_view name);

}  // namespace runnel
