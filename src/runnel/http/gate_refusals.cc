#include "runnel/http/gate_refusals.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "runnel/core/json_write.h"
#include "runnel/core/text.h"
#include "runnel/http/problem.h"

namespace runnel::http {

namespace {
// No more is told of a name that came with the request.
constexpr std::size_t kLongestEcho = 128;
}  // namespace

Response wrong_method(std::string const& allow) {
  std::string details;
  JsonObject{details}.text("allow", allow).close();
  auto response = problem(405, "METHOD_NOT_ALLOWED",
                          "This path does not take the method; it takes " + allow + ".", details);
  response.headers.emplace_back("Allow", allow);
  return response;
}

Response no_such_path() {
  return problem(404, "NOT_FOUND", "This path does not exist; GET /openapi.json lists those that do.");
}

Response server_options() {
  auto response = empty_response(204);
  response.headers.emplace_back("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  return response;
}

std::uint64_t announced_length(Request const& request) {
  auto const length = request.header("Content-Length").value_or("0");
  std::uint64_t out = 0;
  auto const [end, error] = std::from_chars(length.data(), length.data() + length.size(), out);
  return error == std::errc{} ? out : UINT64_MAX;
}

Response no_body_taken() {
  return problem(400, "INVALID_REQUEST", "This address takes no body; send none, or {}.");
}

Response repeated_parameter(std::string const& name) {
  std::string details;
  JsonObject object{details};
  object.text("parameter", to_valid_utf8(std::string_view{name}.substr(0, kLongestEcho)));
  object.close();
  return problem(400, "INVALID_REQUEST",
                 "A query parameter, which details.parameter names, is given twice; give it once.", details);
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
  auto response =
      problem(401, "UNAUTHORIZED",
              expired ? "The bearer token has expired: send a new one in the header Authorization: "
                        "Bearer <token>."
                      : "The header Authorization has no token that is valid here: send Authorization: "
                        "Bearer <token> with one that was made for this server.",
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

namespace {
Response come_again(Response response) {
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

std::string limit_details(std::int64_t bytes) {
  return R"({"limitBytes":)" + std::to_string(bytes) + "}";
}
}  // namespace

Response too_many_body_bytes(std::int64_t limit) {
  return come_again(problem(
      429, "TOO_MANY_BODY_BYTES",
      "The request bodies that you have in flight are as much as this server allows one user; wait for their "
      "answers, or send smaller ones.",
      limit_details(limit)));
}

Response too_many_answer_bytes(std::int64_t limit) {
  return come_again(
      problem(429, "TOO_MANY_ANSWER_BYTES",
              "The answers that are on their way to you are as much as this server holds for one user; read "
              "them first.",
              limit_details(limit)));
}

Response server_full_of_bodies() {
  return come_again(
      problem(503, "SERVER_BUSY", "The server has as many request bodies in flight as it may; try again."));
}

}  // namespace runnel::http
