#pragma once

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/core/ids.h"
#include "runnel/core/run_names.h"

namespace runnel::http {

struct Operation;

enum class Method { get, post, put, patch, del, head, options, other };

// "GET", "DELETE" …; "OTHER" for what no route can have.
std::string_view to_string(Method method);

struct Route;
using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Request {
  Method method = Method::other;
  // As sent, still percent-encoded, without the query (which may hold a ticket): fit for a log. "*": the
  // server as a whole, for OPTIONS alone.
  std::string path;
  Pairs query_items;  // Decoded, in the order sent.
  Pairs headers;
  Pairs params;  // The path's {name} segments, decoded.
  std::string body;
  std::string request_id;
  UserId user;                        // Empty on an open route.
  std::int64_t token_expires_at = 0;  // UNIX seconds: when the user's token ends; 0: unknown.
  std::string ticket_hash;            // Of the ticket that opened the route; empty: none did.
  std::string host;
  Route const* route = nullptr;  // The one whose pattern fits, also where it refuses; none: none does.
  Operation const* operation = nullptr;  // The route's; null where nothing is declared, as in tests.
  std::shared_ptr<boost::json::value const> parsed_body;  // Where the operation takes a body: it fits.

  // Absent: not sent. The server has refused a request that repeats a name. Asking for a name that the
  // operation does not declare is a bug and throws.
  [[nodiscard]] std::optional<std::string> query(std::string_view name) const;

  // A query name that occurs twice.
  [[nodiscard]] std::optional<std::string> repeated_query() const;

  // The first header of that name in any case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
  [[nodiscard]] std::size_t count_headers(std::string_view name) const;

  // A {name} of the route's pattern; asking for one that the pattern lacks is a bug and throws.
  [[nodiscard]] std::string const& param(std::string_view name) const;

  // The body; asking for one that the operation does not declare is a bug and throws.
  [[nodiscard]] boost::json::value const& json() const;
};

struct Response {
  int status = 200;
  std::string content_type;  // Empty: none is sent.
  std::string body;
  Pairs headers;
  RunNames run{};  // The one it is about, for the log; empty: none, or the one that the request names.
  std::shared_ptr<std::string const> shared_body{};  // Instead of `body`: one for many answers.
  std::shared_ptr<void const> until_sent{};          // Kept as long as the answer is.

  [[nodiscard]] std::string_view content() const { return shared_body ? *shared_body : body; }
};

Response json_response(int status, std::string body);
Response empty_response(int status);

struct Target {
  std::optional<std::string> authority;  // Of the absolute form.
  std::string path;                      // Begins with '/'; still percent-encoded.
  Pairs query_items;
};

// Splits a request target (RFC 9112 origin or absolute form). Fails with `invalid` on anything else, on
// characters that must be encoded there (a '#' among them), on bad percent-encoding, and on a query that
// decodes to NUL or to bytes that are not UTF-8.
Result<Target> parse_target(std::string_view target);

// ASCII only: header names and tokens.
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace runnel::http
