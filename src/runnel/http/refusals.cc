#include "runnel/http/refusals.h"

#include <boost/beast/http/error.hpp>

#include <string>
#include <utility>

#include "runnel/http/problem.h"

namespace runnel::http {
namespace {

using HttpError = boost::beast::http::error;

std::string limit_details(std::size_t bytes) {
  return R"({"limitBytes":)" + std::to_string(bytes) + "}";
}

}  // namespace

std::optional<Response> refuse_head(Request& request, bool http_1_1, std::string_view target) {
  auto const hosts = request.count_headers("Host");
  if (hosts > 1 || (http_1_1 && hosts == 0))
    return problem(400, "MALFORMED_REQUEST", "One Host header is needed.");

  auto const encoding = request.header("Transfer-Encoding");
  if (encoding &&
      (request.count_headers("Transfer-Encoding") > 1 || !equal_ignoring_case(*encoding, "chunked"))) {
    return problem(501, "UNSUPPORTED_ENCODING", "The only transfer encoding here is chunked.");
  }
  auto const expected = request.header("Expect");
  if (expected && !equal_ignoring_case(*expected, "100-continue")) {
    return problem(417, "EXPECTATION_FAILED", "The only expectation met here is 100-continue.");
  }
  auto parsed = parse_target(target);
  if (!parsed) return problem(400, "MALFORMED_REQUEST", "The request target is malformed.");
  request.path = std::move(parsed->path);
  request.query_items = std::move(parsed->query_items);
  return std::nullopt;
}

std::optional<Response> refuse_unreadable(boost::system::error_code const& ec, Limits const& limits) {
  if (ec == HttpError::end_of_stream || ec == HttpError::partial_message) return std::nullopt;
  if (ec == HttpError::header_limit || ec == HttpError::buffer_overflow) {
    return problem(431, "HEADERS_TOO_LARGE", "The headers are too large.",
                   limit_details(limits.header_bytes));
  }
  if (ec == HttpError::body_limit) {
    return problem(413, "BODY_TOO_LARGE", "The body is too large.", limit_details(limits.body_bytes));
  }
  if (ec.category() == make_error_code(HttpError::bad_method).category()) {
    return problem(400, "MALFORMED_REQUEST", "The request is not valid HTTP.");
  }
  return std::nullopt;
}

}  // namespace runnel::http
