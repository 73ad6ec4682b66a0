#include "runnel/base/tokens/jwt.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <string>

#include "runnel/base/testing/test_keys.h"
#include "runnel/core/text/base64url.h"

namespace runnel::base {
namespace {

constexpr std::int64_t kNow = 1'800'000'000;
std::string const kKey(32, 'k');

// Signs whatever it is given, as an attacker with the key or a careless issuer could.
std::string sign_raw(std::string const& header, std::string const& payload, std::string const& key = kKey) {
  auto const text = base64url_encode(header) + "." + base64url_encode(payload);
  std::array<unsigned char, 32> digest{};
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<unsigned char const*>(text.data()), text.size(), digest.data(), nullptr);
  return text + "." + base64url_encode({reinterpret_cast<char const*>(digest.data()), digest.size()});
}

std::string const kHeader = R"({"alg":"HS256","typ":"JWT"})";
std::string const kPayload =
    R"({"iss":"runnel","aud":"runnel","sub":"demo","iat":1799999990,"exp":1800000010})";

KeyRing ring_of(std::string secret) {
  return KeyRing{SigningKey::from_secret(std::move(secret)).value()};
}

KeyRing const kRing = ring_of(kKey);
TokenParties const kParties;

std::variant<Claims, TokenRefusal> verify(std::string const& token, std::int64_t now = kNow) {
  return verify_token(token, kParties, kRing, now);
}

bool accepted(std::string const& token) {
  return std::holds_alternative<Claims>(verify(token));
}

std::string why_refused(std::string const& token) {
  auto const verified = verify(token);
  auto const* refusal = std::get_if<TokenRefusal>(&verified);
  return refusal == nullptr ? "accepted" : std::string{refusal->why};
}

std::string own_token() {
  return sign_token({"demo", kNow + 60}, kParties, kRing, kNow);
}

TEST(Jwt, HTTP_3_OwnTokenIsAccepted) {
  auto const verified = verify(own_token(), kNow + 59);

  ASSERT_TRUE(std::holds_alternative<Claims>(verified));
  EXPECT_EQ(std::get<Claims>(verified).subject, "demo");
  EXPECT_EQ(std::get<Claims>(verified).expires_at, kNow + 60);
}

// RFC 7515 A.1: the signature of a known text with a known key.
TEST(Jwt, SignatureIsHmacSha256) {
  auto const key = base64url_decode(
      "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
  ASSERT_TRUE(key.has_value());
  std::string const header = "{\"typ\":\"JWT\",\r\n \"alg\":\"HS256\"}";
  std::string const payload =
      "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}";

  EXPECT_TRUE(sign_raw(header, payload, *key).ends_with(".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
  auto const verified =
      verify_token(sign_raw(header, payload, *key), {"joe", "runnel"}, ring_of(*key), 1300819000);
  EXPECT_EQ(std::get<TokenRefusal>(verified).why, "the token has another audience");
}

TEST(Jwt, HTTP_3_ExpiredTokenIsRefused) {
  auto const verified = verify(own_token(), kNow + 60);

  ASSERT_TRUE(std::holds_alternative<TokenRefusal>(verified));
  EXPECT_TRUE(std::get<TokenRefusal>(verified).expired);
}

TEST(Jwt, HTTP_3_AnotherKeyIsRefused) {
  EXPECT_EQ(why_refused(sign_raw(kHeader, kPayload, std::string(32, 'x'))), "the token's signature is wrong");
}

TEST(Jwt, HTTP_3_AnyChangedCharacterIsRefused) {
  auto const token = own_token();
  ASSERT_TRUE(accepted(token));

  for (std::size_t i = 0; i < token.size(); ++i) {
    auto tampered = token;
    tampered[i] = tampered[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(accepted(tampered)) << i;
  }
}

TEST(Jwt, HTTP_3_AlgorithmIsOursNotTheHeaders) {
  ASSERT_TRUE(accepted(sign_raw(kHeader, kPayload)));
  for (char const* header :
       {R"({"alg":"none"})", R"({"alg":"None"})", R"({"alg":"RS256"})", R"({"alg":"hs256"})",
        R"({"alg":"HS512"})", R"({"typ":"JWT"})", R"({"alg":null})", R"({"alg":["HS256"]})", R"([])",
        R"("HS256")", "", "{", R"({"alg":"HS256","typ":"JWE"})", R"({"alg":"HS256","crit":["exp"]})"}) {
    EXPECT_FALSE(accepted(sign_raw(header, kPayload))) << header;
  }
}

TEST(Jwt, HTTP_3_UnsignedTokenIsRefused) {
  auto const unsigned_text = base64url_encode(R"({"alg":"none"})") + "." + base64url_encode(kPayload) + ".";

  EXPECT_FALSE(accepted(unsigned_text));
  EXPECT_FALSE(accepted(base64url_encode(kHeader) + "." + base64url_encode(kPayload) + "."));
}

TEST(Jwt, HTTP_3_KeysThatTheHeaderBringsAreNotUsed) {
  std::string const header = R"({"alg":"HS256","jwk":{"kty":"oct","k":"eHh4"},"kid":"../../dev/null"})";

  EXPECT_FALSE(accepted(sign_raw(header, kPayload, "xxx")));
  EXPECT_FALSE(accepted(sign_raw(header, kPayload, "")));
}

TEST(Jwt, HTTP_3_ClaimsAreRequiredAndChecked) {
  for (
      char const* payload : {
          R"({"aud":"runnel","sub":"demo","iat":1799999990,"exp":1800000010})",
          R"({"iss":"other","aud":"runnel","sub":"demo","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","sub":"demo","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":"tool","sub":"demo","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":["tool",7],"sub":"demo","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":{"runnel":1},"sub":"demo","iat":1799999990,"exp":1800000010})",
          R"({"iss":["runnel"],"aud":"runnel","sub":"demo","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":"runnel","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":"runnel","sub":"","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":"runnel","sub":"a b","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":"runnel","sub":7,"iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":"runnel","sub":"demo","iat":"x","exp":1800000010})",
          R"({"iss":"runnel","aud":"runnel","sub":"demo","exp":-1})",
          R"({"iss":"runnel","aud":"runnel","sub":"demo","iat":1800009999,"exp":1800010010})",
          R"({"iss":"runnel","aud":"runnel","sub":"demo","iat":1799999990})",
          R"({"iss":"runnel","aud":"runnel","sub":"demo","iat":1799999990,"exp":"1800000010"})",
          R"({"iss":"runnel","aud":"runnel","sub":"demo","iat":1799999990,"exp":1e99})",
          R"({"iss":"runnel","aud":"runnel","sub":"demo","iat":1799999990,"exp":1800000010,"nbf":1800009999})",
          R"([])",
          R"(nonsense)",
      }) {
    EXPECT_FALSE(accepted(sign_raw(kHeader, payload))) << payload;
  }
}

// Forms that external issuers use: no iat, several audiences, fractions of a second, access token types.
TEST(Jwt, HTTP_3_OtherIssuersFormsAreAccepted) {
  for (char const* payload : {
           R"({"iss":"runnel","aud":"runnel","sub":"demo","exp":1800000010})",
           R"({"iss":"runnel","aud":["tool","runnel"],"sub":"demo","exp":1800000010})",
           R"({"iss":"runnel","aud":"runnel","sub":"auth0|65","exp":1800000010.75,"nbf":1799999990.5})",
       }) {
    EXPECT_EQ(why_refused(sign_raw(kHeader, payload)), "accepted") << payload;
  }
  EXPECT_EQ(why_refused(sign_raw(R"({"alg":"HS256","typ":"at+jwt","kid":"any"})", kPayload)), "accepted");
}

class JwtAlgorithm : public testing::TestWithParam<Algorithm> {};

TEST_P(JwtAlgorithm, HTTP_3_PublicKeyAcceptsItsOwnTokensOnly) {
  TestKeyPair const pair{GetParam()};
  TestKeyPair const other{GetParam()};
  auto const ring = ring_of_public(GetParam(), {{"", pair.public_pem()}});
  auto const alg = std::string{to_string(GetParam())};
  auto const header = R"({"alg":")" + alg + R"("})";
  auto const why = [&ring](std::string const& token) {
    auto const verified = verify_token(token, kParties, ring, kNow);
    auto const* refusal = std::get_if<TokenRefusal>(&verified);
    return refusal == nullptr ? std::string{"accepted"} : std::string{refusal->why};
  };

  EXPECT_EQ(why(pair.sign_token(header, kPayload)), "accepted");
  EXPECT_EQ(why(other.sign_token(header, kPayload)), "the token's signature is wrong");
  // The classic confusions: no signature, and the public key used as an HMAC secret.
  EXPECT_EQ(why(base64url_encode(R"({"alg":"none"})") + "." + base64url_encode(kPayload) + "."),
            "the token's algorithm is not the configured one");
  EXPECT_EQ(why(sign_raw(kHeader, kPayload, pair.public_pem())),
            "the token's algorithm is not the configured one");
  EXPECT_EQ(why(sign_raw(header, kPayload, pair.public_pem())), "the token's signature is wrong");

  auto const token = pair.sign_token(header, kPayload);
  for (std::size_t i = 0; i < token.size(); i += 7) {
    auto tampered = token;
    tampered[i] = tampered[i] == 'A' ? 'B' : 'A';
    EXPECT_NE(why(tampered), "accepted") << i;
  }
  for (std::size_t const length : {0u, 1u, 63u, 65u, 71u, 255u, 257u}) {
    auto const text = token.substr(0, token.rfind('.') + 1);
    EXPECT_NE(why(text + base64url_encode(std::string(length, '\x01'))), "accepted") << length;
  }
}

INSTANTIATE_TEST_SUITE_P(PublicKeys, JwtAlgorithm, testing::Values(Algorithm::rs256, Algorithm::es256),
                         [](auto const& chosen) { return std::string{to_string(chosen.param)}; });

TEST(Jwt, HTTP_3_KidChoosesAmongTheConfiguredKeys) {
  TestKeyPair const old_pair{Algorithm::es256};
  TestKeyPair const new_pair{Algorithm::es256};
  auto const ring =
      ring_of_public(Algorithm::es256, {{"new", new_pair.public_pem()}, {"old", old_pair.public_pem()}});
  auto const ok = [&ring](std::string const& token) {
    return std::holds_alternative<Claims>(verify_token(token, kParties, ring, kNow));
  };

  EXPECT_TRUE(ok(new_pair.sign_token(R"({"alg":"ES256","kid":"new"})", kPayload)));
  EXPECT_TRUE(ok(old_pair.sign_token(R"({"alg":"ES256","kid":"old"})", kPayload)));
  EXPECT_FALSE(ok(old_pair.sign_token(R"({"alg":"ES256","kid":"new"})", kPayload)));
  EXPECT_FALSE(ok(new_pair.sign_token(R"({"alg":"ES256","kid":"../new"})", kPayload)));
  EXPECT_FALSE(ok(new_pair.sign_token(R"({"alg":"ES256","kid":7})", kPayload)));
  EXPECT_FALSE(ok(new_pair.sign_token(R"({"alg":"ES256"})", kPayload)));
}

TEST(Jwt, HugeAndDeepTokensAreRefused) {
  auto const huge = R"({"iss":"runnel","aud":"runnel","sub":"demo","iat":1799999990,"exp":1800000010,"x":")" +
                    std::string(kMaxTokenBytes, 'x') + "\"}";

  EXPECT_FALSE(accepted(sign_raw(kHeader, huge)));
  EXPECT_FALSE(accepted(sign_raw(kHeader, std::string(1000, '['))));
  EXPECT_FALSE(accepted(std::string(1'000'000, '.')));
}

TEST(Jwt, TokensHaveThreeParts) {
  auto const token = own_token();

  for (std::string const& text : {std::string{}, std::string{"."}, std::string{".."}, std::string{"a.b"},
                                  token.substr(0, token.rfind('.')), token + ".", "." + token, token + " "}) {
    EXPECT_FALSE(accepted(text)) << text;
  }
}

}  // namespace
}  // namespace runnel::base
