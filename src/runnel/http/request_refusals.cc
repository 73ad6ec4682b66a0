#include "runnel/http/request_refusals.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"
#include "runnel/core/text/text.h"

namespace runnel::http {

namespace {
// The longest part of a name from the request that an answer repeats.
constexpr std::size_t kLongestEcho = 128;
}  // namespace

api::Response wrong_method(std::string const& allow) {
  std::string details;
  JsonObject{details}.text("allow", allow).close();
  auto response = api::problem(405, "METHOD_NOT_ALLOWED",
                               "This path does not take the method; it takes " + allow + ".", details);
  response.headers.emplace_back("Allow", allow);
  return response;
}

api::Response no_such_path() {
  return api::problem(404, "NOT_FOUND", "This path does not exist; GET /openapi.json lists those that do.");
}

api::Response server_options() {
  auto response = api::empty_response(204);
  response.headers.emplace_back("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  return response;
}

std::uint64_t announced_length(api::Request const& request) {
  auto const length = request.header("Content-Length").value_or("0");
  std::uint64_t out = 0;
  auto const [end, error] = std::from_chars(length.data(), length.data() + length.size(), out);
  return error == std::errc{} ? out : UINT64_MAX;
}

api::Response no_body_taken() {
  return api::problem(400, "INVALID_REQUEST", "This address takes no body; send none, or {}.");
}

api::Response repeated_parameter(std::string const& name) {
  std::string details;
  JsonObject object{details};
  object.text("parameter", to_valid_utf8(std::string_view{name}.substr(0, kLongestEcho)));
  object.close();
  return api::problem(
      400, "INVALID_REQUEST",
      "The query parameter that details.parameter names is given more than once; give it once.", details);
}

api::Response not_authenticated(Unidentified::Reason reason) {
  using Reason = Unidentified::Reason;
  if (reason == Reason::missing) {
    auto response = api::problem(401, "UNAUTHORIZED",
                                 "A bearer token is needed: send the header Authorization: Bearer <token>.",
                                 R"({"reason":"missing"})");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  bool const expired = reason == Reason::expired;
  auto response = api::problem(
      401, "UNAUTHORIZED",
      expired
          ? "The bearer token has expired: send a new one in the header Authorization: Bearer <token>."
          : "The header Authorization has no valid token: send Authorization: Bearer <token> with a token "
            "that was issued for this server.",
      expired ? R"({"reason":"expired"})" : R"({"reason":"invalid"})");
  response.headers.emplace_back("WWW-Authenticate", "Bearer error=\"invalid_token\"");
  return response;
}

api::Response invalid_ticket() {
  auto response =
      api::problem(401, "INVALID_TICKET",
                   "The ticket is unknown, used up, too old, or not for this address: get another.");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

bool has_token_in_url(api::Request const& request) {
  static constexpr std::array<std::string_view, 5> kNames = {"access_token", "token", "authorization",
                                                             "bearer", "jwt"};
  auto const names_a_token = [](auto const& item) {
    return std::any_of(kNames.begin(), kNames.end(),
                       [&item](std::string_view name) { return equal_ignoring_case(item.first, name); });
  };
  return std::any_of(request.query_items.begin(), request.query_items.end(), names_a_token);
}

api::Response token_in_url() {
  return api::problem(
      400, "TOKEN_IN_URL",
      "Tokens belong in the Authorization header, never in a URL; if you cannot send a header, use a "
      "ticket: POST /api/v1/auth/tickets.");
}

api::Response too_many_requests(std::chrono::seconds wait) {
  auto response =
      api::problem(429, "TOO_MANY_REQUESTS",
                   "You send requests faster than this server allows; wait as long as Retry-After says.");
  response.headers.emplace_back("Retry-After", std::to_string(wait.count()));
  return response;
}

api::Response too_many_streams(std::int64_t limit) {
  auto response = api::problem(429, "TOO_MANY_STREAMS",
                               "You have as many event streams open as this server allows; close one first.",
                               R"({"limit":)" + std::to_string(limit) + "}");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

namespace {
api::Response come_again(api::Response response) {
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

std::string limit_details(std::int64_t bytes) {
  return R"({"limitBytes":)" + std::to_string(bytes) + "}";
}
}  // namespace

api::Response too_many_body_bytes(std::int64_t limit) {
  return come_again(api::problem(429, "TOO_MANY_BODY_BYTES",
                                 "Your request bodies in flight have reached the limit of bytes for one "
                                 "user; wait for their answers, or send smaller bodies.",
                                 limit_details(limit)));
}

api::Response too_many_answer_bytes(std::int64_t limit) {
  return come_again(api::problem(
      429, "TOO_MANY_ANSWER_BYTES",
      "The answers on their way to you have reached the limit of bytes for one user; read them first.",
      limit_details(limit)));
}

api::Response server_full_of_bodies() {
  return come_again(
      api::problem(503, "SERVER_BUSY",
                   "The request bodies in flight have reached the server's limit of bytes; try again."));
}

}  // namespace runnel::http
