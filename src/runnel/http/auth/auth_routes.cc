#include "runnel/http/auth/auth_routes.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"
#include "runnel/core/time/instant.h"
#include "runnel/http/auth/dev_secret.h"
#include "runnel/http/auth/loopback.h"

namespace runnel::http {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kDevTokenTtl = 24h;

bool comes_from_this_machine(api::Request const& request) {
  if (request.count_headers("Origin") > 1) return false;
  // A request that a proxy forwards comes from elsewhere, whatever its Host says.
  for (auto const* name : {"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via"}) {
    if (request.header(name)) return false;
  }
  auto const origin = request.header("Origin");
  return is_loopback_host(request.host) && (!origin || is_loopback_origin(*origin));
}

bool has_secret(api::Request const& request, std::string const& secret) {
  auto const sent = request.header(kDevSecretHeader);
  return sent && request.count_headers(kDevSecretHeader) == 1 && is_same_secret(*sent, secret);
}

api::Response refused(std::string_view reason, std::string_view message) {
  std::string details;
  JsonObject object{details};
  object.text("reason", reason);
  object.close();
  return api::problem(403, "DEV_TOKEN_REFUSED", message, details);
}

// The refusal; empty if the request gets a token.
std::optional<api::Response> refusal(api::Request const& request, std::string const& secret) {
  if (!comes_from_this_machine(request)) {
    return refused("origin", "The dev token is given only to pages and programs on this machine.");
  }
  if (has_secret(request, secret)) return std::nullopt;
  return refused(
      "secret",
      "The dev token needs the header X-Runnel-Dev with the dev mode secret: the text after #dev= in the "
      "address that the server printed when it started. The secret is also in the file dev.secret in the "
      "server's data folder. Or use the token that `runnel token --user demo` prints.");
}

boost::asio::awaitable<api::Reply> dev_token(std::shared_ptr<Authenticator const> authenticator,
                                             std::string secret, std::int64_t now_s, api::Request request) {
  auto no = refusal(request, secret);
  if (no) co_return std::move(*no);
  std::string body;
  JsonObject object{body};
  object.text("token", authenticator->issue_token(UserId{kDevUser}, kDevTokenTtl)).text("user", kDevUser);
  object.text("expiresAt", to_rfc3339_seconds(now_s + kDevTokenTtl.count()));
  object.close();
  co_return api::json_response(200, std::move(body));
}

}  // namespace

void add_dev_token_route(api::Router& router, std::shared_ptr<Authenticator const> authenticator,
                         base::Clock const& clock, std::string secret) {
  router.add(
      api::Method::post, "/api/v1/auth/dev-token", api::Access::open,
      [authenticator = std::move(authenticator), &clock, secret = std::move(secret)](api::Request request) {
        return dev_token(authenticator, secret, clock.now_ms() / 1000, std::move(request));
      });
}

}  // namespace runnel::http
