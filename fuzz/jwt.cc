// Verifies a bearer token with a secret of ours. The corpus has valid tokens; every change of them is
// refused.

#include "runnel/base/tokens/jwt.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fuzz/target.h"
#include "runnel/core/text/base64url.h"

namespace {

using namespace runnel::base;

constexpr std::int64_t kNow = 1'800'000'000;

KeyRing const& ring() {
  static KeyRing const keys{SigningKey::from_secret(std::string(32, 'k')).value()};
  return keys;
}

std::string signed_text(std::string_view header, std::string_view payload) {
  auto const text = runnel::base64url_encode(header) + "." + runnel::base64url_encode(payload);
  return text + "." + runnel::base64url_encode(ring().signing_key().sign(text));
}

// Signs any header and payload correctly, like a careless issuer, so that the token gets past the check of
// the signature to the check of the claims.
void check_signed(std::string_view bytes) {
  auto const cut = bytes.find('\0');
  auto const header = bytes.substr(0, cut);
  auto const payload = cut == std::string_view::npos ? std::string_view{} : bytes.substr(cut + 1);
  auto const verified = verify_token(signed_text(header, payload), {}, ring(), kNow);
  auto const* claims = std::get_if<Claims>(&verified);
  if (claims == nullptr) return;
  require(header.find("HS256") != std::string_view::npos, "the algorithm is the configured one");
  require(!claims->subject.empty() && claims->subject.size() <= 128, "the subject is a usable id");
  require(claims->expires_at > kNow, "the token has not expired");
}

void check_raw(std::string_view bytes) {
  static std::vector<std::string> const good{
      sign_token({"demo", kNow + 60}, {}, ring(), kNow),
      signed_text(R"({"alg":"HS256"})",
                  R"({"iss":"runnel","aud":["a","runnel"],"sub":"x","exp":1900000000})")};
  auto const verified = verify_token(bytes, {}, ring(), kNow);
  if (!std::holds_alternative<Claims>(verified)) return;
  require(std::find(good.begin(), good.end(), bytes) != good.end(), "nobody else signs tokens");
}

}  // namespace

RUNNEL_FUZZ_TARGET(jwt) {
  std::string_view const bytes{reinterpret_cast<char const*>(data), size};
  check_raw(bytes);
  check_signed(bytes);
  return 0;
}
