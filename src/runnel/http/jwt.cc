#include "runnel/http/jwt.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "runnel/core/ids.h"
#include "runnel/core/json_write.h"

namespace runnel::http {
namespace {

namespace json = boost::json;

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kHeader = R"({"alg":"HS256","typ":"JWT"})";

// How far the clocks of two nodes may differ.
constexpr std::int64_t kClockSkew = 60;

Error refused(char const* why) {
  return {Errc::invalid, why};
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  auto const* done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<unsigned char const*>(text.data()), text.size(), digest.data(), &length);
  if (done == nullptr) throw std::runtime_error("HMAC-SHA256 failed");
  return {reinterpret_cast<char const*>(digest.data()), length};
}

std::optional<json::object> parse_object(std::string_view text) {
  json::parse_options options;
  options.max_depth = 4;
  json::error_code error;
  auto value = json::parse({text.data(), text.size()}, error, {}, options);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.as_object());
}

std::optional<std::string> text_member(json::object const& object, std::string_view name) {
  auto const* value = object.if_contains({name.data(), name.size()});
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string{value->as_string()};
}

std::optional<std::int64_t> number_member(json::object const& object, std::string_view name) {
  auto const* value = object.if_contains({name.data(), name.size()});
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  return value->as_int64();
}

Result<void> check_header(std::string_view encoded) {
  auto const bytes = base64url_decode(encoded);
  if (!bytes) return bytes.error();
  auto const header = parse_object(*bytes);
  if (!header) return refused("the token's header is no JSON object");
  if (text_member(*header, "alg") != "HS256") return refused("the token's algorithm is not HS256");
  if (header->contains("typ") && text_member(*header, "typ") != "JWT") return refused("the token is no JWT");
  // RFC 7515 4.1.11: what we do not understand must not be ignored.
  if (header->contains("crit")) return refused("the token has critical extensions");
  return {};
}

Result<Claims> check_claims(std::string_view payload, std::int64_t now_s) {
  auto const claims = parse_object(payload);
  if (!claims) return refused("the token's payload is no JSON object");
  if (text_member(*claims, "iss") != kTokenIssuer) return refused("the token has another issuer");
  if (text_member(*claims, "aud") != kTokenAudience) return refused("the token has another audience");

  auto const subject = text_member(*claims, "sub");
  if (!subject || !is_usable_id(*subject)) return refused("the token names no user");
  auto const issued_at = number_member(*claims, "iat");
  if (!issued_at || *issued_at > now_s + kClockSkew) return refused("the token is not yet valid");
  auto const expires_at = number_member(*claims, "exp");
  if (!expires_at || *expires_at <= now_s) return refused("the token has expired");
  if (claims->contains("nbf")) {
    auto const not_before = number_member(*claims, "nbf");
    if (!not_before || *not_before > now_s + kClockSkew) return refused("the token is not yet valid");
  }
  return Claims{*subject, *issued_at, *expires_at};
}

}  // namespace

std::string base64url_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (char const c : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6)
      out += kAlphabet[(bits >> (count - 6)) & 0x3fU];
  }
  if (count > 0) out += kAlphabet[(bits << (6 - count)) & 0x3fU];
  return out;
}

Result<std::string> base64url_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (char const c : text) {
    auto const value = kAlphabet.find(c);
    if (value == std::string_view::npos) return refused("base64url has a foreign character");
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> count) & 0xffU);
    }
  }
  bool const stray_bits = (bits & ((1U << count) - 1U)) != 0;
  if (count >= 6 || stray_bits) return refused("base64url has stray bits");
  return out;
}

std::string sign_hs256(Claims const& claims, std::string_view key) {
  std::string payload;
  JsonObject object{payload};
  object.text("iss", kTokenIssuer).text("aud", kTokenAudience).text("sub", claims.subject);
  object.number("iat", claims.issued_at).number("exp", claims.expires_at);
  object.close();

  std::string token = base64url_encode(kHeader) + "." + base64url_encode(payload);
  auto const signature = hmac_sha256(key, token);
  return token + "." + base64url_encode(signature);
}

Result<Claims> verify_hs256(std::string_view token, std::string_view key, std::int64_t now_s) {
  if (token.size() > kMaxTokenBytes) return refused("the token is too long");
  auto const first = token.find('.');
  auto const last = token.rfind('.');
  bool const three_parts = first != last && token.find('.', first + 1) == last;
  if (!three_parts) return refused("the token has not three parts");

  auto const header = check_header(token.substr(0, first));
  if (!header) return header.error();

  auto const signature = base64url_decode(token.substr(last + 1));
  if (!signature) return signature.error();
  auto const expected = hmac_sha256(key, token.substr(0, last));
  bool const genuine = signature->size() == expected.size() &&
                       CRYPTO_memcmp(signature->data(), expected.data(), expected.size()) == 0;
  if (!genuine) return refused("the token's signature is wrong");

  auto const payload = base64url_decode(token.substr(first + 1, last - first - 1));
  if (!payload) return payload.error();
  return check_claims(*payload, now_s);
}

}  // namespace runnel::http
