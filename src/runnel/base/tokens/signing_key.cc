#include "runnel/base/tokens/signing_key.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace runnel::base {
namespace {

constexpr std::size_t kLeastSecretBytes = 32;
constexpr int kLeastRsaBits = 2048;
constexpr std::size_t kP256Bytes = 32;  // The size of each of the two numbers in a signature.

unsigned char const* bytes_of(std::string_view text) {
  return reinterpret_cast<unsigned char const*>(text.data());
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  auto const* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text), text.size(),
                          digest.data(), &length);
  if (done == nullptr) throw std::runtime_error("HMAC-SHA256 failed");
  return {reinterpret_cast<char const*>(digest.data()), length};
}

// RFC 7518 3.4 puts the two numbers side by side; OpenSSL needs them in DER. Empty if the signature does not
// have that form.
std::string to_der(std::string_view signature) {
  if (signature.size() != 2 * kP256Bytes) return {};
  std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> const pair{ECDSA_SIG_new(), &ECDSA_SIG_free};
  auto* const r = BN_bin2bn(bytes_of(signature), kP256Bytes, nullptr);
  auto* const s = BN_bin2bn(bytes_of(signature.substr(kP256Bytes)), kP256Bytes, nullptr);
  if (pair == nullptr || ECDSA_SIG_set0(pair.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return {};
  }
  std::array<unsigned char, 80> der{};  // Two numbers of 33 bytes and their framing.
  auto* end = der.data();
  auto const length = i2d_ECDSA_SIG(pair.get(), &end);
  if (length <= 0) return {};
  return {reinterpret_cast<char const*>(der.data()), static_cast<std::size_t>(length)};
}

bool verifies_with(EVP_PKEY* key, std::string_view text, std::string_view signature) {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> const context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
  bool const good =
      context != nullptr && EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
      EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(text), text.size()) ==
          1;
  if (!good) ERR_clear_error();
  return good;
}

bool is_p256(EVP_PKEY* key) {
  std::array<char, 64> name{};
  return EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, name.data(), name.size(), nullptr) ==
             1 &&
         std::string_view{name.data()} == "prime256v1";
}

// Why the key does not fit the algorithm; null if it does.
char const* fault_of(Algorithm algorithm, EVP_PKEY* key) {
  if (algorithm == Algorithm::rs256) {
    if (EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA) return "is not an RSA key, which RS256 needs";
    if (EVP_PKEY_get_bits(key) < kLeastRsaBits) return "is an RSA key of less than 2048 bits";
    return nullptr;
  }
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC || !is_p256(key))
    return "is not a P-256 key, which ES256 needs";
  return nullptr;
}

}  // namespace

std::string_view to_string(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::hs256:
      return "HS256";
    case Algorithm::rs256:
      return "RS256";
    case Algorithm::es256:
      break;
  }
  return "ES256";
}

std::optional<Algorithm> parse_algorithm(std::string_view name) {
  for (auto const algorithm : {Algorithm::hs256, Algorithm::rs256, Algorithm::es256}) {
    if (to_string(algorithm) == name) return algorithm;
  }
  return std::nullopt;
}

SigningKey::SigningKey(std::string secret) : algorithm_{Algorithm::hs256}, key_{std::move(secret)} {}

SigningKey::SigningKey(Algorithm algorithm, PublicKey key) : algorithm_{algorithm}, key_{std::move(key)} {}

Result<SigningKey> SigningKey::from_secret(std::string bytes) {
  if (bytes.find("-----BEGIN ") != std::string::npos) {
    return Error{Errc::invalid, "holds a PEM key, but HS256 needs a secret; is auth.algorithm right?"};
  }
  if (bytes.size() < kLeastSecretBytes)
    return Error{Errc::invalid, "holds less than 32 bytes, too few for HS256"};
  return SigningKey{std::move(bytes)};
}

Result<SigningKey> SigningKey::from_public_pem(Algorithm algorithm, std::string const& pem) {
  std::unique_ptr<BIO, decltype(&BIO_free)> const source{
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
  if (source == nullptr) throw std::bad_alloc{};
  PublicKey key{PEM_read_bio_PUBKEY(source.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free};
  ERR_clear_error();
  if (key == nullptr) {
    return Error{Errc::invalid, "holds no public key in PEM form (\"-----BEGIN PUBLIC KEY-----\")"};
  }
  if (auto const* fault = fault_of(algorithm, key.get())) return Error{Errc::invalid, fault};
  return SigningKey{algorithm, std::move(key)};
}

bool SigningKey::verifies(std::string_view text, std::string_view signature) const {
  if (auto const* secret = std::get_if<std::string>(&key_)) {
    auto const expected = hmac_sha256(*secret, text);
    return signature.size() == expected.size() &&
           CRYPTO_memcmp(signature.data(), expected.data(), expected.size()) == 0;
  }
  auto* const key = std::get<PublicKey>(key_).get();
  if (algorithm_ == Algorithm::rs256) return verifies_with(key, text, signature);
  auto const der = to_der(signature);
  return !der.empty() && verifies_with(key, text, der);
}

std::string SigningKey::sign(std::string_view text) const {
  auto const* secret = std::get_if<std::string>(&key_);
  if (secret == nullptr) throw std::logic_error("a public key cannot sign");
  return hmac_sha256(*secret, text);
}

}  // namespace runnel::base
