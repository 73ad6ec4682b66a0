#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/base/tokens/key_ring.h"

namespace runnel::base {

// Longer tokens are refused unread.
inline constexpr std::size_t kMaxTokenBytes = 8192;

// Times are in seconds since 1970.
struct Claims {
  std::string subject;
  std::int64_t expires_at = 0;
  std::vector<std::pair<std::string, std::string>> texts{};  // Further claims, by name.
};

// Who issues tokens, and for whom they are meant.
struct TokenParties {
  std::string issuer = "runnel";
  std::string audience = "runnel";
};

struct TokenRefusal {
  bool expired = false;  // It was valid once: the client needs a new one.
  std::string_view why;  // For the log.
};

// A JWT that is signed with the ring's first key, which must be a secret.
std::string sign_token(Claims const& claims, TokenParties const& parties, KeyRing const& keys,
                       std::int64_t now_s);

// The claims of a token. The token must be signed by a key in the ring with the ring's algorithm, have the
// given issuer and audience, have begun and not have expired, and have a usable id as its subject. A header
// that names another algorithm is refused before anything else is done with it. Keys that a header brings
// (jwk, jku, x5c) are never used, and its kid only chooses among the ring's keys. The token must have the
// further claims `texts` as texts; they are returned in the same order.
std::variant<Claims, TokenRefusal> verify_token(std::string_view token, TokenParties const& parties,
                                                KeyRing const& keys, std::int64_t now_s,
                                                std::span<std::string_view const> texts = {});

}  // namespace runnel::base
