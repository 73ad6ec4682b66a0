#include "runnel/http/routes/server/health_routes.h"

#include <algorithm>

#include "runnel/core/json/write.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;

asio::awaitable<api::Reply> healthz(api::Request /*request*/) {
  co_return api::json_response(200, R"({"status":"ok"})");
}

asio::awaitable<api::Reply> readyz(CheckReadiness check) {
  Checks const checks = co_await check();

  bool const ready = std::all_of(checks.begin(), checks.end(), [](auto const& item) { return item.second; });
  std::string body;
  JsonObject outer{body};
  outer.text("status", ready ? "ready" : "not ready");
  JsonObject inner{outer.key("checks")};
  for (auto const& [name, passed] : checks)
    inner.boolean(name, passed);
  inner.close();
  outer.close();
  co_return api::json_response(ready ? 200 : 503, std::move(body));
}

}  // namespace

void add_health_routes(api::Router& router, CheckReadiness check) {
  router.add(api::Method::get, "/healthz", api::Access::open, healthz);
  router.add(api::Method::get, "/readyz", api::Access::open,
             [check = std::move(check)](api::Request const& /*request*/) { return readyz(check); });
}

}  // namespace runnel::http
