#include "runnel/http/problem.h"

#include <string>

#include "runnel/base/log.h"
#include "runnel/core/json_write.h"

namespace runnel::http {
namespace {

struct Mapping {
  int status;
  std::string_view code;
  std::string_view message;
  base::LogLevel level;
};

Mapping mapping_of(Errc code) {
  using base::LogLevel;
  switch (code) {
    case Errc::invalid:
      return {400, "INVALID_REQUEST", "The request is not valid.", LogLevel::debug};
    case Errc::not_found:
      return {404, "NOT_FOUND", "What the request names does not exist.", LogLevel::debug};
    case Errc::already_exists:
    case Errc::conflict:
      return {409, "CONFLICT", "The present state does not allow this.", LogLevel::debug};
    // Another node has the run: the same request, sent again, reaches it.
    case Errc::fenced:
    case Errc::unavailable:
      return {503, "UNAVAILABLE", "The server cannot do this now; try again.", LogLevel::warn};
    case Errc::over_budget:
      return {402, "BUDGET_EXCEEDED", "This would cost more than may be spent.", LogLevel::debug};
    case Errc::canceled:
      return {503, "UNAVAILABLE", "The server stopped this work; try again.", LogLevel::info};
    case Errc::internal:
      break;
  }
  return {500, "INTERNAL", "The server failed; the request id finds the cause in its log.", LogLevel::error};
}

}  // namespace

Response problem(int status, std::string_view code, std::string_view message, std::string_view details) {
  std::string body;
  JsonObject outer{body};
  JsonObject inner{outer.key("error")};
  inner.text("code", code).text("message", message).raw("details", details);
  inner.close();
  outer.close();
  return json_response(status, std::move(body));
}

Response problem_from(Error const& error, std::string_view request_id) {
  auto const mapped = mapping_of(error.code);
  base::log(mapped.level, "request refused",
            {{"request_id", request_id}, {"code", mapped.code}, {"detail", error.detail}});
  auto response = problem(mapped.status, mapped.code, mapped.message);
  if (mapped.status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace runnel::http
