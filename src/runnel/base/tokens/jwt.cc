#include "runnel/base/tokens/jwt.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "runnel/core/ids.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/base64url.h"
#include "runnel/core/text/text.h"

namespace runnel::base {
namespace {

namespace json = boost::json;

// How many seconds the clocks of two machines may differ.
constexpr std::int64_t kClockSkew = 60;
// The latest date that a token may have: the end of the year 9999.
constexpr double kLatest = 253'402'300'799;

using Refused = std::optional<TokenRefusal>;

TokenRefusal refused(std::string_view why) {
  return {false, why};
}

std::optional<json::object> parse_object(std::string_view text) {
  json::parse_options options;
  options.max_depth = 16;
  json::error_code error;
  auto value = json::parse({text.data(), text.size()}, error, {}, options);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.as_object());
}

std::optional<json::object> decode_object(std::string_view encoded) {
  auto const bytes = base64url_decode(encoded);
  return bytes ? parse_object(*bytes) : std::nullopt;
}

std::optional<std::string> text_member(json::object const& object, std::string_view name) {
  auto const* value = object.if_contains({name.data(), name.size()});
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string{value->as_string()};
}

// RFC 7519 allows fractions of a second; they are dropped.
std::optional<std::int64_t> date_member(json::object const& object, std::string_view name) {
  auto const* value = object.if_contains({name.data(), name.size()});
  if (value == nullptr || !value->is_number()) return std::nullopt;
  auto const seconds = value->to_number<double>();
  if (!(seconds >= 0 && seconds <= kLatest)) return std::nullopt;
  return static_cast<std::int64_t>(std::floor(seconds));
}

// RFC 9068 gives access tokens the type at+jwt.
bool is_known_type(json::object const& header) {
  if (!header.contains("typ")) return true;
  auto const type = text_member(header, "typ").value_or("");
  return equal_ignoring_case(type, "JWT") || equal_ignoring_case(type, "at+jwt") ||
         equal_ignoring_case(type, "application/at+jwt");
}

Refused check_header(json::object const& header, Algorithm algorithm) {
  if (text_member(header, "alg") != to_string(algorithm))
    return refused("the token's algorithm is not the configured one");
  if (!is_known_type(header)) return refused("the token is not a JWT");
  // RFC 7515 4.1.11: a critical extension that is not understood must not be ignored.
  if (header.contains("crit")) return refused("the token has critical extensions");
  if (header.contains("kid") && !text_member(header, "kid"))
    return refused("the token's kid is not a string");
  return std::nullopt;
}

bool is_for(json::object const& claims, std::string const& audience) {
  auto const* value = claims.if_contains("aud");
  if (value == nullptr) return false;
  if (value->is_string()) return value->get_string() == audience;
  if (!value->is_array()) return false;
  auto const& list = value->get_array();
  return std::any_of(list.begin(), list.end(), [&audience](json::value const& item) {
    return item.is_string() && item.get_string() == audience;
  });
}

Refused check_times(json::object const& claims, std::int64_t now_s) {
  for (char const* name : {"iat", "nbf"}) {
    if (!claims.contains(name)) continue;
    auto const date = date_member(claims, name);
    if (!date || *date > now_s + kClockSkew) return refused("the token is not yet valid");
  }
  auto const expires_at = date_member(claims, "exp");
  if (!expires_at) return refused("the token has no valid expiry time");
  if (*expires_at <= now_s) return TokenRefusal{true, "the token has expired"};
  return std::nullopt;
}

std::variant<Claims, TokenRefusal> check_claims(json::object const& claims, TokenParties const& parties,
                                                std::int64_t now_s, std::span<std::string_view const> texts) {
  if (text_member(claims, "iss") != parties.issuer) return refused("the token has another issuer");
  if (!is_for(claims, parties.audience)) return refused("the token has another audience");
  auto subject = text_member(claims, "sub");
  if (!subject || !is_usable_id(*subject)) return refused("the token names no user");
  if (auto const wrong = check_times(claims, now_s)) return *wrong;
  Claims out{std::move(*subject), *date_member(claims, "exp")};
  for (auto const name : texts) {
    auto text = text_member(claims, name);
    if (!text) return refused("the token lacks a claim");
    out.texts.emplace_back(name, std::move(*text));
  }
  return out;
}

std::string encoded_header(KeyRing const& keys) {
  std::string header;
  JsonObject object{header};
  object.text("alg", to_string(keys.algorithm())).text("typ", "JWT");
  if (!keys.signing_kid().empty()) object.text("kid", keys.signing_kid());
  object.close();
  return base64url_encode(header);
}

}  // namespace

std::string sign_token(Claims const& claims, TokenParties const& parties, KeyRing const& keys,
                       std::int64_t now_s) {
  std::string payload;
  JsonObject object{payload};
  object.text("iss", parties.issuer).text("aud", parties.audience).text("sub", claims.subject);
  object.number("iat", now_s).number("exp", claims.expires_at);
  for (auto const& [name, text] : claims.texts)
    object.text(name, text);
  object.close();

  std::string token = encoded_header(keys) + "." + base64url_encode(payload);
  auto const signature = keys.signing_key().sign(token);
  return token + "." + base64url_encode(signature);
}

std::variant<Claims, TokenRefusal> verify_token(std::string_view token, TokenParties const& parties,
                                                KeyRing const& keys, std::int64_t now_s,
                                                std::span<std::string_view const> texts) {
  if (token.size() > kMaxTokenBytes) return refused("the token is too long");
  auto const first = token.find('.');
  auto const last = token.rfind('.');
  bool const three_parts = first != last && token.find('.', first + 1) == last;
  if (!three_parts) return refused("the token does not have three parts");

  auto const header = decode_object(token.substr(0, first));
  if (!header) return refused("the token's header is not a JSON object");
  if (auto const wrong = check_header(*header, keys.algorithm())) return *wrong;
  auto const* key = keys.find(text_member(*header, "kid"));
  if (key == nullptr) return refused("the token is signed with a key that is not configured");
  auto const signature = base64url_decode(token.substr(last + 1));
  if (!signature || !key->verifies(token.substr(0, last), *signature))
    return refused("the token's signature is wrong");

  auto const claims = decode_object(token.substr(first + 1, last - first - 1));
  if (!claims) return refused("the token's payload is not a JSON object");
  return check_claims(*claims, parties, now_s, texts);
}

}  // namespace runnel::base
