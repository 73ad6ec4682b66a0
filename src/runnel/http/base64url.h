#pragma once

#include <string>
#include <string_view>

#include "runnel/core/error.h"

namespace runnel::http {

// RFC 4648 section 5 without padding.
std::string base64url_encode(std::string_view bytes);
// Strict: one text a value, so no padding, no blanks, no stray bits.
Result<std::string> base64url_decode(std::string_view text);

}  // namespace runnel::http
