#include "runnel/http/routes/server/metrics_route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runnel/http/testing/test_server.h"

namespace runnel::http {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

boost::asio::awaitable<api::Reply> greet(api::Request /*request*/) {
  co_return api::json_response(200, "{}");
}

class MetricsRoute : public TestServer {
 protected:
  void start_with(api::Access access) {
    router.add(api::Method::get, "/things/{id}", api::Access::user, greet);
    add_metrics_route(router, metrics, pool, access);
    options.metrics = &metrics;
    start();
  }
  std::string bearer() {
    return "Authorization: Bearer " + authenticator->issue_token(UserId{"demo"}, 60s) + "\r\n";
  }

  base::BlockingPool pool{1};
};

TEST_F(MetricsRoute, HTTP_7_AnyoneMayReadThemWhereTheyAreOpen) {
  start_with(api::Access::open);

  auto const answer = TestClient{port}.ask(get("/metrics"));

  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.has("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer.body, HasSubstr("\nrunnel_http_connections 1\n"));
  EXPECT_THAT(answer.body, HasSubstr("\nrunnel_http_requests_in_flight 1\n"));
}

TEST_F(MetricsRoute, HTTP_7_ElseAUserMay) {
  start_with(api::Access::user);

  EXPECT_EQ(TestClient{port}.ask(get("/metrics")).status, 401);
  EXPECT_EQ(TestClient{port}.ask(get("/metrics", bearer())).status, 200);
}

TEST_F(MetricsRoute, HTTP_7_RequestsAreCountedByPatternAndNeverByPath) {
  start_with(api::Access::open);
  TestClient client{port};

  client.ask(get("/things/canary", bearer()));
  client.ask(get("/things/canary"));
  client.ask(get("/canary"));
  auto const text = client.ask(get("/metrics")).body;

  EXPECT_THAT(
      text,
      HasSubstr("runnel_http_requests_total{method=\"GET\",route=\"/things/{id}\",status=\"2xx\"} 1\n"));
  EXPECT_THAT(
      text,
      HasSubstr("runnel_http_requests_total{method=\"GET\",route=\"/things/{id}\",status=\"4xx\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("runnel_http_requests_total{method=\"any\",route=\"none\",status=\"4xx\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("runnel_http_request_seconds_count{method=\"GET\",route=\"/things/{id}\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("\nrunnel_http_auth_failures_total 1\n"));
  EXPECT_EQ(text.find("canary"), std::string::npos);
}

TEST_F(MetricsRoute, HTTP_7_TheLagOfEachCoreIsThere) {
  start_with(api::Access::open);
  TestClient client{port};

  std::string text = client.ask(get("/metrics")).body;
  while (text.find("runnel_core_lag_seconds_count{core=\"1\"} 0\n") != std::string::npos)
    text = client.ask(get("/metrics")).body;

  EXPECT_THAT(text, HasSubstr("runnel_core_lag_seconds_bucket{core=\"0\",le=\"+Inf\"}"));
  EXPECT_THAT(text, HasSubstr("runnel_core_lag_seconds_count{core=\"1\"} "));
}

}  // namespace
}  // namespace runnel::http
