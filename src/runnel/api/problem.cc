#include "runnel/api/problem.h"

#include <string>

#include "runnel/base/log/log.h"
#include "runnel/core/json/write.h"

namespace runnel::api {
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
      return {404, "NOT_FOUND", "The resource that the request names does not exist.", LogLevel::debug};
    case Errc::already_exists:
    case Errc::conflict:
    case Errc::open_calls:
      return {409, "CONFLICT", "The current state does not allow this request.", LogLevel::debug};
    // Another node has the run. The same request reaches that node when it is sent again.
    case Errc::fenced:
    case Errc::unavailable:
      return {503, "UNAVAILABLE", "The server cannot do this now; try again.", LogLevel::warn};
    case Errc::over_budget:
      return {402, "BUDGET_EXCEEDED", "This would cost more than the budget allows.", LogLevel::debug};
    case Errc::canceled:
      return {503, "UNAVAILABLE", "The server stopped this work; try again.", LogLevel::info};
    case Errc::internal:
      break;
  }
  return {500, "INTERNAL", "The server failed; look for the request id in its log to find the cause.",
          LogLevel::error};
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

}  // namespace runnel::api
