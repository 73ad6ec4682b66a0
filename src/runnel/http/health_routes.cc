#include "runnel/http/health_routes.h"

#include <algorithm>

#include "runnel/core/json_write.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;

asio::awaitable<Reply> healthz(Request /*request*/) {
  co_return json_response(200, R"({"status":"ok"})");
}

asio::awaitable<Reply> readyz(CheckReadiness check) {
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
  co_return json_response(ready ? 200 : 503, std::move(body));
}

}  // namespace

void add_health_routes(Router& router, CheckReadiness check) {
  router.add(Method::get, "/healthz", Access::open, healthz);
  router.add(Method::get, "/readyz", Access::open,
             [check = std::move(check)](Request const& /*request*/) { return readyz(check); });
}

}  // namespace runnel::http
