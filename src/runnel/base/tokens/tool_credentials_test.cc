#include "runnel/base/tokens/tool_credentials.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <variant>

namespace runnel::base {
namespace {

constexpr std::int64_t kMintedAt = 1'700'000'000;

ToolGrant some_grant() {
  return {UserId{"ann"}, RunId{"r1"}, ToolCallId{"call_1"}, 1'700'000'000'123, "calendar.create"};
}

std::string_view why_refused(std::variant<ToolGrant, TokenRefusal> const& verified) {
  auto const* const refused = std::get_if<TokenRefusal>(&verified);
  return refused != nullptr ? refused->why : "accepted";
}

TEST(ToolCredentials, TOOL_9_SayWhatTheyAreFor) {
  ToolCredentials const credentials;

  auto const verified = credentials.verify(credentials.mint(some_grant(), kMintedAt), kMintedAt + 1);

  EXPECT_EQ(std::get<ToolGrant>(verified), some_grant());
}

TEST(ToolCredentials, TOOL_9_LiveForFiveMinutes) {
  ToolCredentials const credentials;
  auto const credential = credentials.mint(some_grant(), kMintedAt);

  EXPECT_TRUE(std::holds_alternative<ToolGrant>(credentials.verify(credential, kMintedAt + 299)));
  EXPECT_EQ(why_refused(credentials.verify(credential, kMintedAt + 300)), "the token has expired");
}

TEST(ToolCredentials, TOOL_9_OfAnotherProcessAreRefused) {
  ToolCredentials const one;
  ToolCredentials const other;

  EXPECT_EQ(why_refused(other.verify(one.mint(some_grant(), kMintedAt), kMintedAt)),
            "the token's signature is wrong");
}

TEST(ToolCredentials, TOOL_9_ChangedOnesAreRefused) {
  ToolCredentials const credentials;
  auto const credential = credentials.mint(some_grant(), kMintedAt);

  for (std::size_t i = 0; i + 1 < credential.size(); ++i) {
    auto changed = credential;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(std::holds_alternative<ToolGrant>(credentials.verify(changed, kMintedAt))) << i;
  }
  EXPECT_FALSE(std::holds_alternative<ToolGrant>(credentials.verify("", kMintedAt)));
}

// Whoever verifies users' tokens refuses a credential, even with the same key and issuer.
TEST(ToolCredentials, TOOL_9_AreNoTokensOfUsers) {
  KeyRing const key{SigningKey::from_secret(std::string(32, 'k')).value()};
  TokenParties tools;
  tools.audience = kToolAudience;
  auto const credential =
      sign_token({"ann", kMintedAt + 60, {{"scope", "calendar.create"}}}, tools, key, kMintedAt);

  auto const verified = verify_token(credential, TokenParties{}, key, kMintedAt);

  EXPECT_EQ(std::get<TokenRefusal>(verified).why, "the token has another audience");
}

TEST(ToolCredentials, TOOL_9_TokenWithoutAClaimIsRefused) {
  KeyRing const key{SigningKey::from_secret(std::string(32, 'k')).value()};
  std::array<std::string_view, 2> const wanted{"run", "scope"};
  auto const token = sign_token({"ann", kMintedAt + 60, {{"scope", "calendar.create"}}}, {}, key, kMintedAt);

  EXPECT_EQ(std::get<TokenRefusal>(verify_token(token, {}, key, kMintedAt, wanted)).why,
            "the token lacks a claim");
}

}  // namespace
}  // namespace runnel::base
