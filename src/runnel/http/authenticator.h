#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>

#include "runnel/base/clock.h"
#include "runnel/core/ids.h"
#include "runnel/http/jwt.h"
#include "runnel/http/message.h"

namespace runnel::http {

// Who sends a request, and until when (unix seconds) he may.
struct Identity {
  UserId user;
  std::int64_t expires_at = 0;
};

// Why nobody is known to send it: means 401.
struct Unidentified {
  enum class Reason { missing, expired, invalid };
  Reason reason = Reason::missing;
  std::string_view detail;  // For the log.
};

// Who sends a request (HTTP-3): a bearer token signed with one of the configured keys. Tokens in a URL are
// never looked at. Any thread may call; `clock` outlives it.
class Authenticator {
 public:
  Authenticator(KeyRing keys, TokenParties parties, base::Clock const& clock);

  [[nodiscard]] std::variant<Identity, Unidentified> authenticate(Request const& request) const;

  // Whether the tokens are this server's own; otherwise they come from the issuer that has the private key.
  [[nodiscard]] bool can_issue() const { return keys_.signing_key().can_sign(); }
  // Only where it can.
  [[nodiscard]] std::string issue_token(UserId const& user, std::chrono::seconds ttl) const;

 private:
  [[nodiscard]] std::int64_t now_s() const { return clock_->now_ms() / 1000; }

  KeyRing keys_;
  TokenParties parties_;
  base::Clock const* clock_;
};

}  // namespace runnel::http
