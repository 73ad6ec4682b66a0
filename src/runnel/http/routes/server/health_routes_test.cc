#include "runnel/http/routes/server/health_routes.h"

#include <gtest/gtest.h>

#include "runnel/api/testing/run_handler.h"

namespace runnel::http {
namespace {

boost::asio::awaitable<Checks> check(Checks checks) {
  co_return checks;
}

api::Response ask(std::string_view path, Checks checks) {
  api::Router router;
  add_health_routes(router, [checks = std::move(checks)] { return check(checks); });
  auto const match = router.match(api::Method::get, path);
  return std::get<api::Response>(api::run_handler(std::get<api::Router::Found>(match).route->handler({})));
}

TEST(HealthRoutes, HTTP_7_HealthyWhileTheProcessAnswers) {
  EXPECT_EQ(ask("/healthz", {{"store", false}}).body, R"({"status":"ok"})");
}

TEST(HealthRoutes, HTTP_7_ReadyWhenAllChecksPass) {
  auto const response = ask("/readyz", {{"store", true}, {"stream", true}});

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"status":"ready","checks":{"store":true,"stream":true}})");
}

TEST(HealthRoutes, HTTP_7_NotReadyWhileOneFails) {
  auto const response = ask("/readyz", {{"store", true}, {"draining", false}});

  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body, R"({"status":"not ready","checks":{"store":true,"draining":false}})");
}

}  // namespace
}  // namespace runnel::http
