#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "runnel/core/error.h"

struct evp_pkey_st;

namespace runnel::base {

// How tokens are signed. The configuration chooses the algorithm, never a token.
enum class Algorithm {
  hs256,  // HMAC with a secret: whoever can verify can also sign.
  rs256,  // RSA, PKCS #1 v1.5.
  es256,  // ECDSA on P-256.
};

// The name in a token's header and in the settings, such as "HS256".
std::string_view to_string(Algorithm algorithm);
std::optional<Algorithm> parse_algorithm(std::string_view name);

// A key for one algorithm. It verifies only signatures of that algorithm, so a token cannot make it do
// anything else.
class SigningKey {
 public:
  // For HS256. Fails with `invalid` if there are fewer than 32 bytes, or if they contain a PEM key, which is
  // not a secret.
  static Result<SigningKey> from_secret(std::string bytes);

  // For RS256 or ES256, from a PEM text "PUBLIC KEY". Fails with `invalid` for another kind of key, an RSA
  // key of less than 2048 bits or a curve other than P-256.
  static Result<SigningKey> from_public_pem(Algorithm algorithm, std::string const& pem);

  [[nodiscard]] bool verifies(std::string_view text, std::string_view signature) const;

  // Only a secret can sign. Calling sign() on another key is a bug and throws.
  [[nodiscard]] bool can_sign() const { return std::holds_alternative<std::string>(key_); }
  [[nodiscard]] std::string sign(std::string_view text) const;

 private:
  using PublicKey = std::shared_ptr<evp_pkey_st>;

  explicit SigningKey(std::string secret);
  SigningKey(Algorithm algorithm, PublicKey key);

  Algorithm algorithm_;
  std::variant<std::string, PublicKey> key_;
};

}  // namespace runnel::base
