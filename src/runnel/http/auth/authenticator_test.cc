#include "runnel/http/auth/authenticator.h"

#include <gtest/gtest.h>

#include "runnel/base/testing/chosen_clock.h"
#include "runnel/base/testing/test_keys.h"
#include "runnel/http/testing/test_authenticator.h"

namespace runnel::http {
namespace {

using namespace std::chrono_literals;
using Reason = Unidentified::Reason;

class AuthenticatorTest : public testing::Test {
 protected:
  static api::Request with(std::string value) {
    api::Request request;
    request.headers.emplace_back("authorization", std::move(value));
    return request;
  }
  [[nodiscard]] bool known(api::Request const& request) const {
    return std::holds_alternative<Identity>(authenticator.authenticate(request));
  }
  [[nodiscard]] Reason why(api::Request const& request) const {
    return std::get<Unidentified>(authenticator.authenticate(request)).reason;
  }

  base::ChosenClock clock;
  Authenticator const authenticator = test_authenticator(clock);
};

TEST_F(AuthenticatorTest, HTTP_3_IssuedTokenNamesItsUserUntilItExpires) {
  auto const request = with("Bearer " + authenticator.issue_token(UserId{"demo"}, 60s));

  auto const identity = std::get<Identity>(authenticator.authenticate(request));
  EXPECT_EQ(identity.user.text, "demo");
  EXPECT_EQ(identity.expires_at, 1'800'000'060);
  clock.now += 60'000;

  EXPECT_EQ(why(request), Reason::expired);
}

TEST_F(AuthenticatorTest, HTTP_3_OtherHeadersAreRefused) {
  auto const token = authenticator.issue_token(UserId{"demo"}, 60s);

  EXPECT_TRUE(known(with("bearer " + token)));
  EXPECT_EQ(why(api::Request{}), Reason::missing);
  EXPECT_EQ(why(with(token)), Reason::invalid);
  EXPECT_EQ(why(with("Basic " + token)), Reason::invalid);
  EXPECT_EQ(why(with("Bearer  " + token)), Reason::invalid);
  auto twice = with("Bearer " + token);
  twice.headers.emplace_back("Authorization", "Bearer " + token);
  EXPECT_EQ(why(twice), Reason::invalid);
}

TEST_F(AuthenticatorTest, HTTP_4_TokenInTheUrlIsNotLookedAt) {
  auto const token = authenticator.issue_token(UserId{"demo"}, 60s);
  api::Request request;
  request.query_items = {{"access_token", token}, {"authorization", "Bearer " + token}, {"token", token}};

  EXPECT_EQ(why(request), Reason::missing);
}

TEST_F(AuthenticatorTest, OutsideIssuersKeysIssueNothing) {
  base::TestKeyPair const pair{base::Algorithm::es256};
  Authenticator const outside{
      base::ring_of_public(base::Algorithm::es256, {{"", pair.public_pem()}}), {}, clock};

  EXPECT_TRUE(authenticator.can_issue());
  EXPECT_FALSE(outside.can_issue());
}

}  // namespace
}  // namespace runnel::http
