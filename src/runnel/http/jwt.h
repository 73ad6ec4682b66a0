#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "runnel/http/key_ring.h"

namespace runnel::http {

// The longest token that is looked at.
inline constexpr std::size_t kMaxTokenBytes = 8192;

// Times are seconds since 1970.
struct Claims {
  std::string subject;
  std::int64_t expires_at = 0;
};

// From whom tokens come and for whom they are.
struct TokenParties {
  std::string issuer = "runnel";
  std::string audience = "runnel";
};

struct TokenRefusal {
  bool expired = false;  // It was good once: the client needs a new one.
  std::string_view why;  // For the log.
};

// A JWT signed with the ring's first key, which must be a secret.
std::string sign_token(Claims const& claims, TokenParties const& parties, KeyRing const& keys,
                       std::int64_t now_s);

// The claims of a token that is signed by a key of the ring with the ring's algorithm, comes from and is for
// the given parties, has begun and not expired, and whose subject is a usable id. A header that names another
// algorithm is refused before anything else is done with it; keys that a header brings (jwk, jku, x5c) are
// never looked at, and its kid only chooses among the ring's.
std::variant<Claims, TokenRefusal> verify_token(std::string_view token, TokenParties const& parties,
                                                KeyRing const& keys, std::int64_t now_s);

}  // namespace runnel::http
