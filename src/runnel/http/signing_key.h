#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "runnel/core/error.h"

struct evp_pkey_st;

namespace runnel::http {

// How tokens are signed. The configuration chooses it, never a token.
enum class Algorithm {
  hs256,  // HMAC with a secret: whoever checks can also sign.
  rs256,  // RSA, PKCS #1 v1.5.
  es256,  // ECDSA on P-256.
};

// "HS256" …, as in a token's header and in the settings.
std::string_view to_string(Algorithm algorithm);
std::optional<Algorithm> parse_algorithm(std::string_view name);

// A key of one algorithm. It checks signatures of that one only, so a token cannot make it do anything else.
class SigningKey {
 public:
  // HS256. Fails with `invalid` for less than 32 bytes, and for the text of a public key, which is no secret.
  static Result<SigningKey> from_secret(std::string bytes);

  // RS256 or ES256, from a PEM text "PUBLIC KEY". Fails with `invalid` for another kind of key, an RSA key of
  // less than 2048 bits and a curve other than P-256.
  static Result<SigningKey> from_public_pem(Algorithm algorithm, std::string const& pem);

  [[nodiscard]] bool verifies(std::string_view text, std::string_view signature) const;

  // Only a secret can sign; asking another key is a bug and throws.
  [[nodiscard]] bool can_sign() const { return std::holds_alternative<std::string>(key_); }
  [[nodiscard]] std::string sign(std::string_view text) const;

 private:
  using PublicKey = std::shared_ptr<evp_pkey_st>;

  explicit SigningKey(std::string secret);
  SigningKey(Algorithm algorithm, PublicKey key);

  Algorithm algorithm_;
  std::variant<std::string, PublicKey> key_;
};

}  // namespace runnel::http
