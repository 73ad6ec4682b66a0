#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/api/body_check.h"
#include "runnel/api/handler.h"
#include "runnel/api/message.h"
#include "runnel/api/openapi_contract.h"
#include "runnel/api/route_metrics.h"

namespace runnel::api {

enum class Access {
  open,  // Anyone.
  user,  // A caller with a valid bearer token; the request then has the token's user.
  // As `user`. Instead of the token, a ticket also opens the route: one for WebSockets if the route answers
  // with them, otherwise one for the stream of the run that the path's {thread_id} and the query's runId
  // name.
  user_or_ticket,
  // Whoever knows the secret in the path. RouteOptions::owner_of finds the user that it stands for; for
  // anybody else the path does not exist. Only the route's pattern is logged, never its path.
  path_secret,
};

enum class Answers : std::uint8_t {
  whole,           // With a whole response.
  as_streams,      // Mostly with an event stream, which counts as one of the user's open streams (HTTP-6).
  as_web_sockets,  // With a WebSocket, which counts in the same way. A request that does not ask for one, or
                   // comes from a page that may not, is refused before the handler is called.
};

enum class Bodies : bool {
  small,     // They hold no messages; at most Limits::small_body_bytes.
  messages,  // They hold messages, or a file; at most Limits::body_bytes.
};

// The user that the secret in a path stands for; `not_found` if there is none. Gets the path's {name}
// segments. Anyone may try any secret, and this is called before the request is counted, so it must be cheap.
using OwnerOfSecret = std::function<boost::asio::awaitable<Result<UserId>>(Pairs params)>;

// What a route declares besides its contract.
struct RouteOptions {
  Answers answers = Answers::whole;
  Bodies bodies = Bodies::small;
  ValueCheck values{};  // Checks what the contract cannot express about the body.
  // The approximate size of an answer. This much memory is reserved while the answer is made (HTTP-9).
  std::size_t answer_bytes = std::size_t{16} * 1024;
  OwnerOfSecret owner_of{};  // Set if and only if the access is `path_secret`.
};

struct Route {
  Method method = Method::other;
  std::string pattern;
  Access access = Access::user;
  Handler handler;
  std::vector<std::string> segments{};   // The pattern's.
  Operation const* operation = nullptr;  // The contract's operation. Null if the route is not in a contract.
  bool takes_body = true;                // True also if the router has no contract.
  RouteOptions options{};
  RouteMetrics metrics{};
};

// Finds the handler for a path. It is filled before the server starts, and is only read after that.
class Router {
 public:
  // Without a contract nothing is declared, so nothing is enforced. For tests that have routes of their own.
  Router() = default;
  explicit Router(std::shared_ptr<OpenApiContract const> contract) : contract_{std::move(contract)} {}

  // `pattern` is like "/api/v1/runs/{thread_id}/cancel". A {name} takes one segment that is not empty. A
  // {name...} at the end takes all remaining segments; a pattern that has one never matches a path under
  // /api. If several patterns match, the one with the earlier literal segment wins. Throws if the route is
  // malformed or already there, if the contract lacks it, if the contract's access differs from `access`, or
  // if `owner_of` is set for another access or missing.
  void add(Method method, std::string pattern, Access access, Handler handler, RouteOptions options = {});

  // Adds a route that is open to anyone and not part of the API, such as the files of a page.
  void add_beside_contract(Method method, std::string pattern, Handler handler);

  struct Found {
    Route const* route = nullptr;
    Pairs params;
  };
  struct NoRoute {};
  struct WrongMethod {
    std::string allow;               // The value of the Allow header.
    Route const* fitting = nullptr;  // A route of the path, with another method.
  };
  struct BadPath {};  // The percent-encoding is malformed, or decodes to NUL or to bytes that are not UTF-8.
  using Match = std::variant<Found, NoRoute, WrongMethod, BadPath>;

  // `path` is still percent-encoded, so an encoded slash stays within its segment. HEAD finds the GET route.
  [[nodiscard]] Match match(Method method, std::string_view path) const;

  // Counts the answers of every route. Call it after all routes have been added.
  void count_in(base::Metrics& metrics);

  [[nodiscard]] std::vector<Route> const& routes() const { return routes_; }

 private:
  Route make(Method method, std::string pattern, Access access, Handler handler) const;
  void insert(Route route);

  std::shared_ptr<OpenApiContract const> contract_;
  std::vector<Route> routes_;
};

}  // namespace runnel::api
