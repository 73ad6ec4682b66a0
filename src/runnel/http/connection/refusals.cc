#include "runnel/http/connection/refusals.h"

#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "runnel/api/problem.h"
#include "runnel/core/text/text.h"

namespace runnel::http {
namespace {

using HttpError = boost::beast::http::error;

std::string limit_details(std::size_t bytes) {
  return R"({"limitBytes":)" + std::to_string(bytes) + "}";
}

api::Response malformed(std::string_view message) {
  return api::problem(400, "MALFORMED_REQUEST", message);
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

std::optional<api::Response> refuse_host(api::Request const& request, bool http_1_1) {
  auto const hosts = request.count_headers("Host");
  if (hosts > 1 || (http_1_1 && hosts == 0))
    return malformed("The request must have exactly one Host header.");
  if (hosts == 1 && !is_host(request.host))
    return malformed("The Host header must be a host name or address with an optional port.");
  return std::nullopt;
}

std::optional<api::Response> refuse_framing(api::Request const& request, bool http_1_1) {
  auto const lengths = request.count_headers("Content-Length");
  auto const encodings = request.count_headers("Transfer-Encoding");
  bool const numbered = is_number(request.header("Content-Length").value_or(""));
  if (encodings > 0 && !http_1_1)
    return malformed("HTTP/1.0 has no Transfer-Encoding: send one Content-Length, or use HTTP/1.1.");
  if (lengths + encodings > 1 || !numbered) {
    return malformed(
        "The length of the body is ambiguous: send one Content-Length, or Transfer-Encoding: chunked.");
  }
  auto const encoding = request.header("Transfer-Encoding");
  if (!encoding || equal_ignoring_case(*encoding, "chunked")) return std::nullopt;
  auto const last = encoding->substr(encoding->find_last_of(", \t") + 1);
  bool const valid = equal_ignoring_case(last, "chunked") && encoding->find_first_of(",") < encoding->size();
  if (!valid)
    return malformed(
        "The length of the body is ambiguous: send one Content-Length, or Transfer-Encoding: chunked.");
  return api::problem(501, "UNSUPPORTED_ENCODING", "The only supported transfer encoding is chunked.");
}

}  // namespace

std::optional<api::Response> refuse_head(api::Request const& request, bool http_1_1) {
  if (auto refusal = refuse_host(request, http_1_1)) return refusal;
  if (auto refusal = refuse_framing(request, http_1_1)) return refusal;
  auto const expected = request.header("Expect");
  if (expected && !equal_ignoring_case(*expected, "100-continue")) {
    return api::problem(417, "EXPECTATION_FAILED", "The only supported expectation is 100-continue.");
  }
  return std::nullopt;
}

std::optional<api::Response> take_target(api::Request& request, std::string_view target) {
  if (request.method == api::Method::options && target == "*") {
    request.path = "*";
    return std::nullopt;
  }
  auto parsed = api::parse_target(target);
  if (!parsed) return malformed("The request target is malformed.");
  if (parsed->authority && !equal_ignoring_case(*parsed->authority, request.host)) {
    return malformed("The request target names another host than the Host header.");
  }
  request.path = std::move(parsed->path);
  request.query_items = std::move(parsed->query_items);
  return std::nullopt;
}

api::Response refuse_scanned(HeadScan::State state, Limits const& limits) {
  switch (state) {
    case HeadScan::State::unsupported_version:
      return api::problem(505, "HTTP_VERSION_NOT_SUPPORTED", "This server supports HTTP/1.1 and HTTP/1.0.");
    case HeadScan::State::incomplete:
      return api::problem(431, "HEADERS_TOO_LARGE", "The headers are too large.",
                          limit_details(limits.header_bytes));
    default:
      return malformed("The request is not valid HTTP.");
  }
}

api::Response refuse_late() {
  return api::problem(408, "REQUEST_TIMEOUT", "The request took too long to arrive.");
}

api::Response body_too_large(std::size_t limit) {
  return api::problem(413, "BODY_TOO_LARGE",
                      "The body is too large: this address takes at most " + std::to_string(limit) +
                          " bytes. In a run, earlier messages may be left out: the server has them.",
                      limit_details(limit));
}

std::optional<api::Response> refuse_unreadable(boost::system::error_code const& ec, Limits const& limits) {
  if (ec == HttpError::end_of_stream || ec == HttpError::partial_message) return std::nullopt;
  if (ec == HttpError::header_limit) return refuse_scanned(HeadScan::State::incomplete, limits);
  if (ec == HttpError::body_limit) return body_too_large(limits.body_bytes);
  if (ec.category() == make_error_code(HttpError::bad_method).category()) {
    return malformed("The request is not valid HTTP.");
  }
  return std::nullopt;
}

}  // namespace runnel::http
