#include "runnel/http/auth/auth_routes.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/api/testing/run_handler.h"
#include "runnel/base/testing/chosen_clock.h"
#include "runnel/http/testing/test_authenticator.h"

namespace runnel::http {
namespace {

class DevToken : public testing::Test {
 protected:
  static constexpr char kSecret[] = "dev_0123456789abcdefghijkA";

  DevToken() { add_dev_token_route(router, authenticator, clock, kSecret); }

  api::Response ask(std::string host, api::Pairs headers) {
    headers.emplace_back("X-Runnel-Dev", kSecret);
    return ask_plain(std::move(host), std::move(headers));
  }
  api::Response ask_plain(std::string host, api::Pairs headers) {
    api::Request request;
    request.method = api::Method::post;
    request.host = std::move(host);
    request.headers = std::move(headers);
    auto const match = router.match(api::Method::post, "/api/v1/auth/dev-token");
    return std::get<api::Response>(
        api::run_handler(std::get<api::Router::Found>(match).route->handler(std::move(request))));
  }

  base::ChosenClock clock;
  std::shared_ptr<Authenticator const> authenticator =
      std::make_shared<Authenticator const>(test_authenticator(clock));
  api::Router router;
};

TEST_F(DevToken, HTTP_5_IsGivenToThisMachine) {
  auto const response = ask("localhost:8080", {{"Origin", "http://localhost:8080"}});

  EXPECT_EQ(response.status, 200);
  auto const body = boost::json::parse(response.body).as_object();
  EXPECT_EQ(body.at("user"), "demo");
  EXPECT_EQ(body.at("expiresAt"), "2027-01-16T08:00:00Z");
  api::Request authorized;
  authorized.headers = {{"Authorization", "Bearer " + std::string{body.at("token").as_string()}}};
  EXPECT_EQ(std::get<Identity>(authenticator->authenticate(authorized)).user.text, "demo");
  EXPECT_EQ(ask("127.0.0.1", {}).status, 200);
}

TEST_F(DevToken, HTTP_5_IsRefusedToForeignPagesAndNames) {
  for (auto const& response :
       {ask("rebound.example.com", {}), ask("", {}), ask("localhost", {{"Origin", "null"}}),
        ask("localhost", {{"Origin", "http://evil.com"}}),
        ask("localhost", {{"X-Forwarded-For", "203.0.113.7"}}), ask("localhost", {{"Via", "1.1 proxy"}}),
        ask("localhost", {{"Origin", "http://localhost"}, {"Origin", "http://evil.com"}})}) {
    EXPECT_EQ(response.status, 403);
    EXPECT_NE(response.body.find("DEV_TOKEN_REFUSED"), std::string::npos);
    EXPECT_EQ(response.body.find("eyJ"), std::string::npos);
  }
}

TEST_F(DevToken, HTTP_5_IsRefusedWithoutTheSecret) {
  std::string const secret{kSecret};
  std::vector<api::Pairs> const wrong{{},
                                      {{"X-Runnel-Dev", ""}},
                                      {{"X-Runnel-Dev", secret.substr(0, secret.size() - 1)}},
                                      {{"X-Runnel-Dev", secret + "A"}},
                                      {{"X-Runnel-Dev", "dev_0123456789abcdefghijkB"}},
                                      {{"X-Runnel-Dev", secret}, {"X-Runnel-Dev", secret}}};
  for (auto const& headers : wrong) {
    auto const response = ask_plain("127.0.0.1:8080", headers);

    EXPECT_EQ(response.status, 403);
    auto const error = boost::json::parse(response.body).at("error");
    EXPECT_EQ(error.at("code"), "DEV_TOKEN_REFUSED");
    EXPECT_EQ(error.at("details").at("reason"), "secret");
    EXPECT_NE(response.body.find("runnel token --user demo"), std::string::npos);
    EXPECT_EQ(response.body.find(secret), std::string::npos);
  }
  EXPECT_EQ(ask_plain("127.0.0.1:8080", {{"x-runnel-dev", secret}}).status, 200);
}

}  // namespace
}  // namespace runnel::http
