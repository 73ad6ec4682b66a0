#pragma once

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/fact/run_names.h"
#include "runnel/core/ids.h"

namespace runnel::api {

struct Operation;

enum class Method { get, post, put, patch, del, head, options, other };

// "GET", "DELETE" and so on; "OTHER" for a method that no route can have.
std::string_view to_string(Method method);

struct Route;
using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Request {
  Method method = Method::other;
  // As sent: still percent-encoded, without the query. It may be logged, because a ticket can only be in the
  // query, and because the dispatcher replaces a path that has a secret by the route's pattern. "*" means the
  // server as a whole, and only OPTIONS may have it.
  std::string path;
  Pairs query_items;  // Decoded, in the order sent.
  Pairs headers;
  Pairs params;  // The path's {name} segments, decoded.
  std::string body;
  std::string request_id;
  UserId user;                        // Empty on an open route.
  std::int64_t token_expires_at = 0;  // When the user's token expires, in UNIX seconds. 0 if unknown.
  std::string ticket_hash;            // The hash of the ticket that opened the route. Empty if none did.
  std::string host;
  Route const* route = nullptr;  // The route that matches, even if it refuses the request. Null if none does.
  Operation const* operation = nullptr;  // The route's operation. Null if nothing is declared, as in tests.
  std::shared_ptr<boost::json::value const> parsed_body;  // Set if the operation takes a body; it is valid.
  // Reserves memory for an answer of this size, instead of RouteOptions::answer_bytes (HTTP-9). False if
  // there is no room: the handler then answers with 429. Empty if nothing is reserved for the route. It may
  // be called while the handler runs.
  std::function<bool(std::size_t bytes)> reserve_answer{};

  // Empty if the parameter was not sent. No request that reaches a handler repeats a name. Asking for a name
  // that the operation does not declare is a bug and throws.
  [[nodiscard]] std::optional<std::string> query(std::string_view name) const;

  // A query name that occurs twice.
  [[nodiscard]] std::optional<std::string> repeated_query() const;

  // The first header with that name, ignoring case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
  [[nodiscard]] std::size_t count_headers(std::string_view name) const;

  // The value of a {name} in the route's pattern. Asking for one that the pattern lacks is a bug and throws.
  [[nodiscard]] std::string const& param(std::string_view name) const;

  // The parsed body. Asking for one that the operation does not declare is a bug and throws.
  [[nodiscard]] boost::json::value const& json() const;
};

struct Response {
  int status = 200;
  std::string content_type;  // Empty if no Content-Type is sent.
  std::string body;
  Pairs headers;
  RunNames
      run{};  // The run that the answer is about, for the log. Empty if none, or if the request names it.
  std::shared_ptr<std::string const> shared_body{};  // Replaces `body`; many answers can share it.
  std::shared_ptr<void const> until_sent{};          // Kept alive for as long as the answer exists.

  [[nodiscard]] std::string_view content() const { return shared_body ? *shared_body : body; }
};

Response json_response(int status, std::string body);
Response empty_response(int status);

struct Target {
  std::optional<std::string> authority;  // Only the absolute form has one.
  std::string path;                      // Begins with '/'; still percent-encoded.
  Pairs query_items;
};

// Splits a request target in the origin or absolute form of RFC 9112. Fails with `invalid` on any other form,
// on characters that must be encoded in a target (including '#'), on malformed percent-encoding in the query,
// on a query that decodes to NUL or to bytes that are not UTF-8, and on a query with too many items.
Result<Target> parse_target(std::string_view target);

// Percent-encodes everything but unreserved characters, so that the result is valid in a path segment or in a
// query value.
std::string encode_component(std::string_view text);

}  // namespace runnel::api
