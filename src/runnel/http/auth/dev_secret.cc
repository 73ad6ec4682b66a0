#include "runnel/http/auth/dev_secret.h"

#include <openssl/crypto.h>

#include "runnel/base/tokens/key_file.h"
#include "runnel/core/text/base64url.h"

namespace runnel::http {
namespace {

// The log identifies a secret by this prefix and redacts it (base/log/log_redact.cc).
constexpr std::string_view kPrefix = "dev_";
constexpr std::size_t kRandomBytes = 16;

bool is_dev_secret(std::string_view text) {
  if (!text.starts_with(kPrefix)) return false;
  auto const random = base64url_decode(text.substr(kPrefix.size()));
  return random.has_value() && random->size() == kRandomBytes;
}

}  // namespace

Result<std::string> open_dev_secret(std::filesystem::path const& data_dir) {
  auto const path = std::filesystem::absolute(data_dir) / kDevSecretFile;
  auto secret = base::open_own_secret(path, kRandomBytes, [](std::string const& random) {
    return std::string{kPrefix} + base64url_encode(random) + "\n";
  });
  if (!secret) return secret.error();
  if (secret->ends_with('\n')) secret->pop_back();
  if (!is_dev_secret(*secret)) {
    return Error{Errc::invalid,
                 path.string() + " does not hold a dev mode secret; remove it to get a new one"};
  }
  return secret;
}

bool is_same_secret(std::string_view sent, std::string_view secret) {
  return !secret.empty() && sent.size() == secret.size() &&
         CRYPTO_memcmp(sent.data(), secret.data(), secret.size()) == 0;
}

}  // namespace runnel::http
