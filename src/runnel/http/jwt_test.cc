#include "runnel/http/jwt.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <string>

namespace runnel::http {
namespace {

constexpr std::int64_t kNow = 1'800'000'000;
std::string const kKey(32, 'k');

// Signs whatever it is given, as an attacker with the key, or a careless issuer, could.
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

bool accepted(std::string const& token) {
  return verify_hs256(token, kKey, kNow).has_value();
}

TEST(Jwt, HTTP_3_OwnTokenIsAccepted) {
  auto const token = sign_hs256({"demo", kNow, kNow + 60}, kKey);

  auto const claims = verify_hs256(token, kKey, kNow + 59);

  ASSERT_TRUE(claims.has_value()) << claims.error().detail;
  EXPECT_EQ(claims->subject, "demo");
  EXPECT_EQ(claims->expires_at, kNow + 60);
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
  auto const verified = verify_hs256(sign_raw(header, payload, *key), *key, 1300819000);
  EXPECT_EQ(verified.error().detail, "the token has another issuer");
}

TEST(Jwt, HTTP_3_ExpiredTokenIsRefused) {
  auto const token = sign_hs256({"demo", kNow, kNow + 60}, kKey);

  EXPECT_FALSE(verify_hs256(token, kKey, kNow + 60).has_value());
}

TEST(Jwt, HTTP_3_AnotherKeyIsRefused) {
  EXPECT_FALSE(
      verify_hs256(sign_hs256({"demo", kNow, kNow + 60}, std::string(32, 'x')), kKey, kNow).has_value());
}

TEST(Jwt, HTTP_3_AnyChangedCharacterIsRefused) {
  auto const token = sign_hs256({"demo", kNow, kNow + 60}, kKey);
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
          R"({"iss":"runnel","aud":["runnel","tool"],"sub":"demo","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":"runnel","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":"runnel","sub":"","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":"runnel","sub":"a b","iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":"runnel","sub":7,"iat":1799999990,"exp":1800000010})",
          R"({"iss":"runnel","aud":"runnel","sub":"demo","exp":1800000010})",
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

TEST(Jwt, HugeAndDeepTokensAreRefused) {
  auto const huge = R"({"iss":"runnel","aud":"runnel","sub":"demo","iat":1799999990,"exp":1800000010,"x":")" +
                    std::string(kMaxTokenBytes, 'x') + "\"}";

  EXPECT_FALSE(accepted(sign_raw(kHeader, huge)));
  EXPECT_FALSE(accepted(sign_raw(kHeader, std::string(1000, '['))));
  EXPECT_FALSE(accepted(std::string(1'000'000, '.')));
}

TEST(Jwt, TokensHaveThreeParts) {
  auto const token = sign_hs256({"demo", kNow, kNow + 60}, kKey);

  for (std::string const& text : {std::string{}, std::string{"."}, std::string{".."}, std::string{"a.b"},
                                  token.substr(0, token.rfind('.')), token + ".", "." + token, token + " "}) {
    EXPECT_FALSE(accepted(text)) << text;
  }
}

TEST(Base64Url, RoundTrips) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(*base64url_decode(base64url_encode(bytes)), bytes);
    bytes += static_cast<char>(i);
  }
  EXPECT_EQ(base64url_encode("\xfb\xff"), "-_8");
}

TEST(Base64Url, OneTextAValue) {
  for (char const* text : {"A", "AA==", "AB", "AAB", "A A", "AA\n", "+/", "A.", "AAAAA"}) {
    EXPECT_FALSE(base64url_decode(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace runnel::http
