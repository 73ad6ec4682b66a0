#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runnel/core/error.h"

namespace runnel::http {

inline constexpr std::string_view kTokenIssuer = "runnel";
inline constexpr std::string_view kTokenAudience = "runnel";

// The longest token that is looked at.
inline constexpr std::size_t kMaxTokenBytes = 4096;

// Times are seconds since 1970.
struct Claims {
  std::string subject;
  std::int64_t issued_at = 0;
  std::int64_t expires_at = 0;
};

// A JWT signed with HMAC-SHA256, from and for this server (`iss` and `aud`).
std::string sign_hs256(Claims const& claims, std::string_view key);

// Fails with `invalid` unless the token is signed by `key` with HS256, issued by and meant for this server,
// not expired, not from the future, and its subject is a usable id. The algorithm is this function's, not the
// header's: a header that names another one is refused, and keys that a header brings (jwk, jku, kid) are
// never looked at.
Result<Claims> verify_hs256(std::string_view token, std::string_view key, std::int64_t now_s);

// RFC 4648 section 5 without padding.
std::string base64url_encode(std::string_view bytes);
// Strict: one text a value, so no padding, no blanks, no stray bits.
Result<std::string> base64url_decode(std::string_view text);

}  // namespace runnel::http
