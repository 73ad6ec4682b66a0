#pragma once

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runnel/base/tokens/key_ring.h"
#include "runnel/core/ids.h"
#include "runnel/core/text/base64url.h"

namespace runnel::base {

// For tests: a folder that is deleted with the object.
class KeyFolder {
 public:
  KeyFolder() : path_{std::filesystem::temp_directory_path() / ("runnel-keys-" + mint_uuid())} {
    std::filesystem::create_directory(path_);
  }
  KeyFolder(KeyFolder const&) = delete;
  KeyFolder& operator=(KeyFolder const&) = delete;
  ~KeyFolder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::filesystem::path const& path() const { return path_; }
  std::string write(std::string const& name, std::string const& bytes, unsigned mode = 0600) const {
    auto const file = path_ / name;
    std::ofstream{file} << bytes;
    ::chmod(file.c_str(), mode);
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

// For tests: an issuer with a private key.
class TestKeyPair {
 public:
  explicit TestKeyPair(Algorithm algorithm, unsigned rsa_bits = 2048)
      : algorithm_{algorithm},
        key_{algorithm == Algorithm::rs256 ? EVP_RSA_gen(rsa_bits) : EVP_EC_gen("P-256"), &EVP_PKEY_free} {}

  [[nodiscard]] std::string public_pem() const {
    std::unique_ptr<BIO, decltype(&BIO_free)> const out{BIO_new(BIO_s_mem()), &BIO_free};
    PEM_write_bio_PUBKEY(out.get(), key_.get());
    char* data = nullptr;
    auto const size = BIO_get_mem_data(out.get(), &data);
    return {data, static_cast<std::size_t>(size)};
  }

  [[nodiscard]] std::string sign_token(std::string const& header, std::string const& payload) const {
    auto const text = base64url_encode(header) + "." + base64url_encode(payload);
    auto const signature = sign(text);
    return text + "." +
           base64url_encode(algorithm_ == Algorithm::es256 ? side_by_side(signature) : signature);
  }

 private:
  [[nodiscard]] std::string sign(std::string const& text) const {
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> const context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
    EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get());
    auto const* bytes = reinterpret_cast<unsigned char const*>(text.data());
    std::size_t length = 0;
    EVP_DigestSign(context.get(), nullptr, &length, bytes, text.size());
    std::string out(length, '\0');
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &length, bytes, text.size());
    out.resize(length);
    return out;
  }

  static std::string side_by_side(std::string const& der) {
    auto const* at = reinterpret_cast<unsigned char const*>(der.data());
    std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> const pair{
        d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())), &ECDSA_SIG_free};
    std::string out(64, '\0');
    auto* const bytes = reinterpret_cast<unsigned char*>(out.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), bytes, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), bytes + 32, 32);
    return out;
  }

  Algorithm algorithm_;
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
};

// For tests: a ring of public keys by kid, loaded from files as the server does.
inline KeyRing ring_of_public(Algorithm algorithm,
                              std::vector<std::pair<std::string, std::string>> const& keys) {
  KeyFolder const folder;
  std::vector<std::string> entries;
  for (auto const& [kid, pem] : keys) {
    auto const file = folder.write("key" + std::to_string(entries.size()), pem, 0644);
    entries.push_back(kid.empty() ? file : kid + "=" + file);
  }
  return KeyRing::load(algorithm, entries).value();
}

}  // namespace runnel::base
