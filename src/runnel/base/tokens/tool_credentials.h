#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "runnel/base/tokens/jwt.h"
#include "runnel/base/tokens/key_ring.h"
#include "runnel/core/ids.h"

namespace runnel::base {

// The audience of the credentials of tool calls. It cannot be configured as the audience of users' tokens.
inline constexpr std::string_view kToolAudience = "tool-runtime";

// How long a credential is valid, in seconds. A call that takes longer can no longer take effect.
inline constexpr std::int64_t kToolCredentialLife = 300;

// What a credential is for: one method, in one call of one run, for one user.
struct ToolGrant {
  UserId user;
  RunId run;
  ToolCallId call;
  Epoch epoch = 0;
  std::string method;  // module.method

  bool operator==(ToolGrant const&) const = default;
};

// Mints and verifies the credentials that tool calls carry (TOOL-9). They are signed with a key that is made
// at the start of the process and is written nowhere: a credential is used only on a connection to the
// process that minted it, so no other process needs the key, and it is never one that is shared with an
// issuer of users' tokens.
//
// A credential that verifies says only what the call was started for. Whether the call may still take effect
// is in its row.
class ToolCredentials {
 public:
  // Throws std::runtime_error if the system gives no random bytes.
  ToolCredentials();

  [[nodiscard]] std::string mint(ToolGrant const& grant, std::int64_t now_s) const;
  [[nodiscard]] std::variant<ToolGrant, TokenRefusal> verify(std::string_view credential,
                                                             std::int64_t now_s) const;

 private:
  KeyRing key_;
};

}  // namespace runnel::base
