#include "runnel/http/auth_routes.h"

#include <array>
#include <chrono>
#include <ctime>
#include <string>
#include <utility>

#include "runnel/core/json_write.h"
#include "runnel/http/loopback.h"
#include "runnel/http/problem.h"

namespace runnel::http {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kDevTokenTtl = 24h;

bool comes_from_this_machine(Request const& request) {
  if (request.count_headers("Origin") > 1) return false;
  // What a proxy forwards comes from elsewhere, whatever Host it was given.
  for (auto const* name : {"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via"}) {
    if (request.header(name)) return false;
  }
  auto const origin = request.header("Origin");
  return is_loopback_host(request.host) && (!origin || is_loopback_origin(*origin));
}

std::string utc_text(std::int64_t seconds) {
  std::time_t const time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

boost::asio::awaitable<Reply> dev_token(std::shared_ptr<Authenticator const> authenticator,
                                        std::int64_t now_s, Request request) {
  if (!comes_from_this_machine(request)) {
    co_return problem(403, "DEV_TOKEN_REFUSED",
                      "The dev token is given to pages and programs of this machine only.");
  }
  std::string body;
  JsonObject object{body};
  object.text("token", authenticator->issue_token(UserId{kDevUser}, kDevTokenTtl)).text("user", kDevUser);
  object.text("expiresAt", utc_text(now_s + kDevTokenTtl.count()));
  object.close();
  co_return json_response(200, std::move(body));
}

}  // namespace

void add_dev_token_route(Router& router, std::shared_ptr<Authenticator const> authenticator,
                         base::Clock const& clock) {
  router.add(Method::post, "/api/v1/auth/dev-token", Access::open,
             [authenticator = std::move(authenticator), &clock](Request request) {
               return dev_token(authenticator, clock.now_ms() / 1000, std::move(request));
             });
}

}  // namespace runnel::http
