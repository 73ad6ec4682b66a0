#include "runnel/core/text/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace runnel {

std::string sha256_hex(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL could not compute a SHA-256 hash");
  }
  std::string out;
  out.reserve(std::size_t{size} * 2);
  for (unsigned i = 0; i < size; ++i) {
    out += kHex[digest[i] >> 4U];
    out += kHex[digest[i] & 0xfU];
  }
  return out;
}

}  // namespace runnel
