#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "runnel/base/clock.h"
#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/http/message.h"

namespace runnel::http {

// Who sends a request (HTTP-3): a bearer token signed with the server's own secret. Tokens in a URL are never
// looked at. Any thread may call; `clock` outlives it.
class Authenticator {
 public:
  // Takes the secret from <data_dir>/auth.key, which it makes (32 random bytes, mode 0600) where there is
  // none, so that tokens outlive a restart. Of several processes that start at once, all get the same secret.
  // Fails with `invalid` where the file is damaged or others may read it, with `unavailable` where the disk
  // refuses.
  static Result<Authenticator> open(std::filesystem::path const& data_dir, base::Clock const& clock);

  Authenticator(std::string secret, base::Clock const& clock);

  // Fails with `invalid`, which means 401.
  [[nodiscard]] Result<UserId> authenticate(Request const& request) const;

  [[nodiscard]] std::string issue_token(UserId const& user, std::chrono::seconds ttl) const;

 private:
  [[nodiscard]] std::int64_t now_s() const { return clock_->now_ms() / 1000; }

  std::string secret_;
  base::Clock const* clock_;
};

}  // namespace runnel::http
