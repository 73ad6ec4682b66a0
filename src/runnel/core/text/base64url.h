#pragma once

#include <string>
#include <string_view>

#include "runnel/core/error.h"

namespace runnel {

// RFC 4648 section 5 without padding.
std::string base64url_encode(std::string_view bytes);
// Strict: each value has exactly one text, so padding, blanks and stray bits are refused.
Result<std::string> base64url_decode(std::string_view text);

}  // namespace runnel
