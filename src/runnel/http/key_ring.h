#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/http/signing_key.h"

namespace runnel::http {

// The keys that tokens may be signed with, all of one algorithm. To change keys, add the new one, let the
// issuer use it, and remove the old one when its last token has expired.
class KeyRing {
 public:
  // A secret of the server's own, which has no name.
  explicit KeyRing(SigningKey secret);

  // `entries` are FILE or KID=FILE. Fails with `invalid` where a file is unsafe (a secret that others can
  // read, a key that others can replace) or holds no such key, or a kid occurs twice; with `unavailable`
  // where one cannot be read. The detail names the file.
  static Result<KeyRing> load(Algorithm algorithm, std::vector<std::string> const& entries);

  [[nodiscard]] Algorithm algorithm() const { return algorithm_; }

  // The key for a token with this kid, or without one: the key of that name, else the one without a name.
  // Null: none.
  [[nodiscard]] SigningKey const* find(std::optional<std::string> const& kid) const;

  // The first one, with which the server signs; its name may be empty.
  [[nodiscard]] SigningKey const& signing_key() const { return keys_.front().second; }
  [[nodiscard]] std::string const& signing_kid() const { return keys_.front().first; }

 private:
  KeyRing(Algorithm algorithm, std::vector<std::pair<std::string, SigningKey>> keys);

  Algorithm algorithm_;
  std::vector<std::pair<std::string, SigningKey>> keys_;  // By kid; empty: without a name.
};

// The secret in <data_dir>/auth.key, which it makes (32 random bytes, mode 0600) where there is none, so that
// tokens outlive a restart. Of several processes that start at once, all get the same secret. Fails with
// `invalid` where the file is damaged or others may read it, with `unavailable` where the disk refuses.
Result<KeyRing> open_own_key(std::filesystem::path const& data_dir);

}  // namespace runnel::http
