#include "runnel/http/cors.h"

#include <boost/url/parse.hpp>

#include <algorithm>
#include <utility>

#include "runnel/api/problem.h"

namespace runnel::http {
namespace {

constexpr char kAllowedHeaders[] = "Authorization, Content-Type, Last-Event-ID, X-Request-Id, X-Runnel-Dev";
constexpr char kExposedHeaders[] = "X-Request-Id, Retry-After";
constexpr char kPreflightLife[] = "600";

bool is_origin(std::string const& text) {
  auto const url = boost::urls::parse_uri(text);
  if (!url || (url->scheme() != "http" && url->scheme() != "https")) return false;
  bool const bare = !url->has_userinfo() && !url->host().empty() && url->encoded_path().empty() &&
                    !url->has_query() && !url->has_fragment();
  bool const lower = std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return bare && lower;
}

}  // namespace

Cors::Cors(std::vector<std::string> origins) : origins_{std::move(origins)} {}

Result<void> Cors::check(std::vector<std::string> const& origins) {
  for (auto const& origin : origins) {
    if (is_origin(origin)) continue;
    return Error{Errc::invalid, "http.allowed_origins: '" + origin +
                                    "' is not an origin; write each origin as a browser sends it, e.g. "
                                    "https://app.example.com or http://localhost:5173"};
  }
  return {};
}

bool Cors::allows(std::string_view origin) const {
  return std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

api::Pairs Cors::headers_for(api::Request const& request) const {
  if (origins_.empty()) return {};
  api::Pairs out{{"Vary", "Origin"}};
  auto const origin = request.header("Origin");
  if (!origin || request.count_headers("Origin") > 1 || !allows(*origin)) return out;
  out.emplace_back("Access-Control-Allow-Origin", *origin);
  out.emplace_back("Access-Control-Expose-Headers", kExposedHeaders);
  return out;
}

bool Cors::is_preflight(api::Request const& request) {
  return request.method == api::Method::options && request.header("Origin").has_value() &&
         request.header("Access-Control-Request-Method").has_value();
}

api::Response Cors::answer_preflight(api::Request const& request, std::string const& methods) const {
  if (request.count_headers("Origin") > 1 || !allows(*request.header("Origin"))) {
    return api::problem(403, "ORIGIN_NOT_ALLOWED", "Pages of this origin may not call this server.");
  }
  auto response = api::empty_response(204);
  response.headers.emplace_back("Access-Control-Allow-Methods", methods);
  response.headers.emplace_back("Access-Control-Allow-Headers", kAllowedHeaders);
  response.headers.emplace_back("Access-Control-Max-Age", kPreflightLife);
  return response;
}

}  // namespace runnel::http
