#include "runnel/base/tokens/tool_credentials.h"

#include <sys/random.h>

#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>

namespace runnel::base {

namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::array<std::string_view, 4> kClaims{"run", "call", "epoch", "scope"};

KeyRing fresh_key() {
  std::string bytes(kKeyBytes, '\0');
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error("the system gives no random bytes");
  }
  return KeyRing{SigningKey::from_secret(std::move(bytes)).value()};
}

TokenParties parties() {
  TokenParties out;
  out.audience = kToolAudience;
  return out;
}

std::optional<Epoch> read_epoch(std::string const& text) {
  Epoch epoch = 0;
  auto const* const end = text.data() + text.size();
  auto const [stopped, error] = std::from_chars(text.data(), end, epoch);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return epoch;
}

}  // namespace

ToolCredentials::ToolCredentials() : key_{fresh_key()} {}

std::string ToolCredentials::mint(ToolGrant const& grant, std::int64_t now_s) const {
  Claims const claims{grant.user.text,
                      now_s + kToolCredentialLife,
                      {{"run", grant.run.text},
                       {"call", grant.call.text},
                       {"epoch", std::to_string(grant.epoch)},
                       {"scope", grant.method}}};
  return sign_token(claims, parties(), key_, now_s);
}

std::variant<ToolGrant, TokenRefusal> ToolCredentials::verify(std::string_view credential,
                                                              std::int64_t now_s) const {
  auto verified = verify_token(credential, parties(), key_, now_s, kClaims);
  if (auto const* const refusal = std::get_if<TokenRefusal>(&verified)) return *refusal;
  auto& claims = std::get<Claims>(verified);
  auto const epoch = read_epoch(claims.texts[2].second);
  if (!epoch) return TokenRefusal{false, "the credential has no epoch"};
  return ToolGrant{UserId{std::move(claims.subject)}, RunId{std::move(claims.texts[0].second)},
                   ToolCallId{std::move(claims.texts[1].second)}, *epoch, std::move(claims.texts[3].second)};
}

}  // namespace runnel::base
