#include "runnel/http/refusals.h"

#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "runnel/http/problem.h"

namespace runnel::http {
namespace {

using HttpError = boost::beast::http::error;

std::string limit_details(std::size_t bytes) {
  return R"({"limitBytes":)" + std::to_string(bytes) + "}";
}

Response malformed(std::string_view message) {
  return problem(400, "MALFORMED_REQUEST", message);
}

bool is_in(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_number(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// RFC 3986 host [":" port], without the percent-encoding that no DNS name has.
bool is_host(std::string_view text) {
  bool const bracketed = text.starts_with('[');
  auto const name_end = bracketed ? text.find(']') : text.find(':');
  if (bracketed && name_end == std::string_view::npos) return false;
  auto const name = bracketed ? text.substr(1, name_end - 1) : text.substr(0, name_end);
  auto const rest = bracketed ? text.substr(name_end + 1) : text.substr(name.size());
  auto const allowed = [bracketed](char c) {
    return is_alphanumeric(c) || is_in(c, bracketed ? ":." : "-._~!$&'()*+,;=");
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), allowed) &&
         (rest.empty() || (rest.front() == ':' && rest.size() <= 6 && is_number(rest.substr(1))));
}

std::optional<Response> refuse_host(Request const& request, bool http_1_1) {
  auto const hosts = request.count_headers("Host");
  if (hosts > 1 || (http_1_1 && hosts == 0)) return malformed("One Host header is needed.");
  if (hosts == 1 && !is_host(request.host)) return malformed("The Host header is no host.");
  return std::nullopt;
}

std::optional<Response> refuse_framing(Request const& request, bool http_1_1) {
  auto const lengths = request.count_headers("Content-Length");
  auto const encodings = request.count_headers("Transfer-Encoding");
  bool const numbered = is_number(request.header("Content-Length").value_or(""));
  if (lengths + encodings > 1 || (encodings > 0 && !http_1_1) || !numbered) {
    return malformed("The length of the body is not certain.");
  }
  auto const encoding = request.header("Transfer-Encoding");
  if (!encoding || equal_ignoring_case(*encoding, "chunked")) return std::nullopt;
  auto const last = encoding->substr(encoding->find_last_of(", \t") + 1);
  bool const valid = equal_ignoring_case(last, "chunked") && encoding->find_first_of(",") < encoding->size();
  if (!valid) return malformed("The length of the body is not certain.");
  return problem(501, "UNSUPPORTED_ENCODING", "The only transfer encoding here is chunked.");
}

}  // namespace

std::optional<Response> refuse_head(Request& request, bool http_1_1, std::string_view target) {
  if (auto refusal = refuse_host(request, http_1_1)) return refusal;
  if (auto refusal = refuse_framing(request, http_1_1)) return refusal;
  auto const expected = request.header("Expect");
  if (expected && !equal_ignoring_case(*expected, "100-continue")) {
    return problem(417, "EXPECTATION_FAILED", "The only expectation met here is 100-continue.");
  }
  if (request.method == Method::options && target == "*") {
    request.path = "*";
    return std::nullopt;
  }
  auto parsed = parse_target(target);
  if (!parsed) return malformed("The request target is malformed.");
  if (parsed->authority && !equal_ignoring_case(*parsed->authority, request.host)) {
    return malformed("The request target is of another host.");
  }
  request.path = std::move(parsed->path);
  request.query_items = std::move(parsed->query_items);
  return std::nullopt;
}

Response refuse_scanned(HeadScan::State state, Limits const& limits) {
  switch (state) {
    case HeadScan::State::unsupported_version:
      return problem(505, "HTTP_VERSION_NOT_SUPPORTED", "This server speaks HTTP/1.1.");
    case HeadScan::State::incomplete:
      return problem(431, "HEADERS_TOO_LARGE", "The headers are too large.",
                     limit_details(limits.header_bytes));
    default:
      return malformed("The request is not valid HTTP.");
  }
}

Response refuse_late() {
  return problem(408, "REQUEST_TIMEOUT", "The request took too long to arrive.");
}

Response body_too_large(std::size_t limit) {
  return problem(413, "BODY_TOO_LARGE",
                 "The body is too large: this address takes at most " + std::to_string(limit) +
                     " bytes. In a run, earlier messages may be left out: the server has them.",
                 limit_details(limit));
}

std::optional<Response> refuse_unreadable(boost::system::error_code const& ec, Limits const& limits) {
  if (ec == HttpError::end_of_stream || ec == HttpError::partial_message) return std::nullopt;
  if (ec == HttpError::header_limit) return refuse_scanned(HeadScan::State::incomplete, limits);
  if (ec == HttpError::body_limit) return body_too_large(limits.body_bytes);
  if (ec.category() == make_error_code(HttpError::bad_method).category()) {
    return malformed("The request is not valid HTTP.");
  }
  return std::nullopt;
}

}  // namespace runnel::http
