#include "runnel/http/gate_refusals.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "runnel/core/json_write.h"
#include "runnel/http/problem.h"

namespace runnel::http {

Response wrong_method(std::string const& allow) {
  auto response = problem(405, "METHOD_NOT_ALLOWED", "This address does not take the method.");
  response.headers.emplace_back("Allow", allow);
  return response;
}

bool announces_body(Request const& request) {
  auto const length = request.header("Content-Length");
  return request.header("Transfer-Encoding").has_value() ||
         (length && length->find_first_not_of('0') != std::string_view::npos);
}

Response no_body_taken() {
  return problem(400, "INVALID_REQUEST", "This address takes no body.");
}

Response repeated_parameter(std::string const& name) {
  std::string details;
  JsonObject object{details};
  object.text("parameter", name);
  object.close();
  return problem(400, "INVALID_REQUEST", "A query parameter is given twice.", details);
}

Response not_authenticated(Unidentified::Reason reason) {
  using Reason = Unidentified::Reason;
  if (reason == Reason::missing) {
    auto response = problem(401, "UNAUTHORIZED",
                            "A bearer token is needed: send the header Authorization: Bearer <token>.",
                            R"({"reason":"missing"})");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  bool const expired = reason == Reason::expired;
  auto response = problem(401, "UNAUTHORIZED",
                          expired ? "The bearer token has expired." : "The bearer token is not valid here.",
                          expired ? R"({"reason":"expired"})" : R"({"reason":"invalid"})");
  response.headers.emplace_back("WWW-Authenticate", "Bearer error=\"invalid_token\"");
  return response;
}

Response invalid_ticket() {
  auto response = problem(401, "INVALID_TICKET",
                          "The ticket is unknown, used up, too old, or not for this run: get another.");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

bool has_token_in_url(Request const& request) {
  static constexpr std::array<std::string_view, 5> kNames = {"access_token", "token", "authorization",
                                                             "bearer", "jwt"};
  auto const names_a_token = [](auto const& item) {
    return std::any_of(kNames.begin(), kNames.end(),
                       [&item](std::string_view name) { return equal_ignoring_case(item.first, name); });
  };
  return std::any_of(request.query_items.begin(), request.query_items.end(), names_a_token);
}

Response token_in_url() {
  return problem(
      400, "TOKEN_IN_URL",
      "Tokens go into the Authorization header, never into a URL; where there can be no header, use a "
      "ticket: POST /api/v1/auth/tickets.");
}

Response too_many_requests(std::chrono::seconds wait) {
  auto response = problem(429, "TOO_MANY_REQUESTS", "You send requests faster than this server allows.");
  response.headers.emplace_back("Retry-After", std::to_string(wait.count()));
  return response;
}

Response too_many_streams(std::int64_t limit) {
  auto response =
      problem(429, "TOO_MANY_STREAMS", "You have as many event streams open as this server allows.",
              R"({"limit":)" + std::to_string(limit) + "}");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace runnel::http
