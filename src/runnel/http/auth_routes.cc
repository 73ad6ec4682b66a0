#include "runnel/http/auth_routes.h"

#include <array>
#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include "runnel/core/json_write.h"
#include "runnel/http/dev_secret.h"
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

bool has_secret(Request const& request, std::string const& secret) {
  auto const sent = request.header(kDevSecretHeader);
  return sent && request.count_headers(kDevSecretHeader) == 1 && is_same_secret(*sent, secret);
}

Response refused(std::string_view reason, std::string_view message) {
  std::string details;
  JsonObject object{details};
  object.text("reason", reason);
  object.close();
  return problem(403, "DEV_TOKEN_REFUSED", message, details);
}

// Why the request gets no token.
std::optional<Response> refusal(Request const& request, std::string const& secret) {
  if (!comes_from_this_machine(request)) {
    return refused("origin", "The dev token is given to pages and programs of this machine only.");
  }
  if (has_secret(request, secret)) return std::nullopt;
  return refused(
      "secret",
      "The dev token needs the header X-Runnel-Dev with the secret of dev mode: what follows "
      "#dev= in the address that the server printed at its start, kept in the file dev.secret of its "
      "data folder. Or use the token that `runnel token --user demo` prints.");
}

boost::asio::awaitable<Reply> dev_token(std::shared_ptr<Authenticator const> authenticator,
                                        std::string secret, std::int64_t now_s, Request request) {
  auto no = refusal(request, secret);
  if (no) co_return std::move(*no);
  std::string body;
  JsonObject object{body};
  object.text("token", authenticator->issue_token(UserId{kDevUser}, kDevTokenTtl)).text("user", kDevUser);
  object.text("expiresAt", utc_text(now_s + kDevTokenTtl.count()));
  object.close();
  co_return json_response(200, std::move(body));
}

}  // namespace

void add_dev_token_route(Router& router, std::shared_ptr<Authenticator const> authenticator,
                         base::Clock const& clock, std::string secret) {
  router.add(Method::post, "/api/v1/auth/dev-token", Access::open,
             [authenticator = std::move(authenticator), &clock, secret = std::move(secret)](Request request) {
               return dev_token(authenticator, secret, clock.now_ms() / 1000, std::move(request));
             });
}

}  // namespace runnel::http
