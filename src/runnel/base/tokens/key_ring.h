#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/base/tokens/signing_key.h"
#include "runnel/core/error.h"

namespace runnel::base {

// The keys that tokens may be signed with, all for one algorithm. To change keys, add the new one, let the
// issuer use it, and remove the old one when its last token has expired.
class KeyRing {
 public:
  // A ring with only the server's own secret, which has no name.
  explicit KeyRing(SigningKey secret);

  // `entries` are FILE or KID=FILE. Fails with `invalid` if a file is unsafe (a secret that others can read,
  // or a key that others can replace) or does not hold a key for the algorithm, or if a kid occurs twice;
  // with `not_found` if a file does not exist; and with `unavailable` if a file cannot be read. The detail
  // names the file.
  static Result<KeyRing> load(Algorithm algorithm, std::vector<std::string> const& entries);

  [[nodiscard]] Algorithm algorithm() const { return algorithm_; }

  // The key for a token with this kid, or for a token without one: the key with that name, otherwise the key
  // without a name. Null if there is neither.
  [[nodiscard]] SigningKey const* find(std::optional<std::string> const& kid) const;

  // The first key, with which the server signs; its name may be empty.
  [[nodiscard]] SigningKey const& signing_key() const { return keys_.front().second; }
  [[nodiscard]] std::string const& signing_kid() const { return keys_.front().first; }

 private:
  KeyRing(Algorithm algorithm, std::vector<std::pair<std::string, SigningKey>> keys);

  Algorithm algorithm_;
  std::vector<std::pair<std::string, SigningKey>> keys_;  // By kid, which is empty if the key has no name.
};

// The ring with the secret in <data_dir>/auth.key. If the file does not exist, it is created (32 random
// bytes, mode 0600), so that tokens stay valid after a restart. Processes that start at the same time all get
// the same secret. Fails with `invalid` if the file is damaged or others may read it, and with `unavailable`
// if it cannot be read or written.
Result<KeyRing> open_own_key(std::filesystem::path const& data_dir);

}  // namespace runnel::base
