#pragma once

#include <string>
#include <string_view>

namespace runnel {

// A member's name as it stands in a JSON pointer (RFC 6901), where `~` and `/` are escaped, and back.
std::string to_pointer_token(std::string_view name);
std::string from_pointer_token(std::string_view token);

// The same for telling somebody of a member that came from outside: of a name of more than 64 bytes the
// beginning, whole characters, and "…".
std::string to_told_token(std::string_view name);

}  // namespace runnel
