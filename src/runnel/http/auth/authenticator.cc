#include "runnel/http/auth/authenticator.h"

#include <utility>

#include "runnel/core/text/text.h"

namespace runnel::http {
namespace {

constexpr std::string_view kScheme = "Bearer ";

Unidentified unidentified(Unidentified::Reason reason, std::string_view detail) {
  return {reason, detail};
}

}  // namespace

Authenticator::Authenticator(base::KeyRing keys, base::TokenParties parties, base::Clock const& clock)
    : keys_{std::move(keys)}, parties_{std::move(parties)}, clock_{&clock} {}

std::variant<Identity, Unidentified> Authenticator::authenticate(api::Request const& request) const {
  using Reason = Unidentified::Reason;
  auto const count = request.count_headers("Authorization");
  if (count == 0) return unidentified(Reason::missing, "no Authorization header");
  if (count > 1) return unidentified(Reason::invalid, "several Authorization headers");
  auto const value = *request.header("Authorization");
  if (!equal_ignoring_case(value.substr(0, kScheme.size()), kScheme))
    return unidentified(Reason::invalid, "the Authorization header has no bearer token");

  auto verified = base::verify_token(value.substr(kScheme.size()), parties_, keys_, now_s());
  if (auto const* refusal = std::get_if<base::TokenRefusal>(&verified)) {
    return unidentified(refusal->expired ? Reason::expired : Reason::invalid, refusal->why);
  }
  auto& claims = std::get<base::Claims>(verified);
  return Identity{UserId{std::move(claims.subject)}, claims.expires_at};
}

std::string Authenticator::issue_token(UserId const& user, std::chrono::seconds ttl) const {
  auto const now = now_s();
  return base::sign_token({user.text, now + ttl.count()}, parties_, keys_, now);
}

}  // namespace runnel::http
