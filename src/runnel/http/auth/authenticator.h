#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>

#include "runnel/api/message.h"
#include "runnel/base/clock.h"
#include "runnel/base/tokens/jwt.h"
#include "runnel/core/ids.h"

namespace runnel::http {

// The user who sends a request, and when the user's token expires (unix seconds).
struct Identity {
  UserId user;
  std::int64_t expires_at = 0;
};

// Why the sender of a request is unknown; the request gets 401.
struct Unidentified {
  enum class Reason { missing, expired, invalid };
  Reason reason = Reason::missing;
  std::string_view detail;  // For the log.
};

// Identifies the sender of a request (HTTP-3) by a bearer token that is signed with one of the configured
// keys. It never looks at tokens in a URL. Any thread may call it; `clock` outlives it.
class Authenticator {
 public:
  Authenticator(base::KeyRing keys, base::TokenParties parties, base::Clock const& clock);

  [[nodiscard]] std::variant<Identity, Unidentified> authenticate(api::Request const& request) const;

  // Whether this server can issue tokens. If not, they come from the issuer that has the private key.
  [[nodiscard]] bool can_issue() const { return keys_.signing_key().can_sign(); }
  // Call this only if can_issue() is true.
  [[nodiscard]] std::string issue_token(UserId const& user, std::chrono::seconds ttl) const;

 private:
  [[nodiscard]] std::int64_t now_s() const { return clock_->now_ms() / 1000; }

  base::KeyRing keys_;
  base::TokenParties parties_;
  base::Clock const* clock_;
};

}  // namespace runnel::http
