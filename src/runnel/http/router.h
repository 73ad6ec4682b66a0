#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/http/body_check.h"
#include "runnel/http/contract.h"
#include "runnel/http/handler.h"
#include "runnel/http/http_metrics.h"
#include "runnel/http/message.h"

namespace runnel::http {

enum class Access {
  open,  // Anyone.
  user,  // A valid bearer token; the request then has its user.
  // Likewise, or instead of the header a ticket for the stream of the run that the path's {thread_id} and the
  // query's runId name.
  user_or_ticket,
};

enum class Answers : bool {
  whole,       // With a response that ends.
  as_streams,  // Mostly with an event stream, which counts among the user's open ones (HTTP-6).
};

enum class Bodies : bool {
  small,     // No message is in them: at most Limits::small_body_bytes.
  messages,  // At most Limits::body_bytes.
};

// What a route says of itself beside its contract.
struct RouteOptions {
  Answers answers = Answers::whole;
  Bodies bodies = Bodies::small;
  ValueCheck values{};  // Of its body, beyond what the contract can say.
  // About how large an answer becomes: what is held for it while it is made (HTTP-9).
  std::size_t answer_bytes = std::size_t{16} * 1024;
};

struct Route {
  Method method = Method::other;
  std::string pattern;
  Access access = Access::user;
  Handler handler;
  std::vector<std::string> segments{};   // The pattern's.
  Operation const* operation = nullptr;  // What the contract says of it; null where the router has none.
  bool takes_body = true;                // Where the contract says nothing else.
  RouteOptions options{};
  RouteMetrics metrics{};
};

// Which handler answers which path. Filled before the server starts, only read after.
class Router {
 public:
  // Without a contract nothing is declared, so nothing is enforced: for tests that bring their own routes.
  Router() = default;
  explicit Router(std::shared_ptr<Contract const> contract) : contract_{std::move(contract)} {}

  // `pattern` is like "/api/v1/runs/{thread_id}/cancel"; a {name} takes one segment that is not empty, and a
  // {name...} at the end all that are left. Where several patterns fit, the one with the earlier literal
  // segment wins. Throws on a malformed or repeated route, and on one that the contract lacks or gives to
  // others.
  void add(Method method, std::string pattern, Access access, Handler handler, RouteOptions options = {});

  // A route for anyone that is no part of the API: the files of a page.
  void add_beside_contract(Method method, std::string pattern, Handler handler);

  struct Found {
    Route const* route = nullptr;
    Pairs params;
  };
  struct NoRoute {};
  struct WrongMethod {
    std::string allow;  // The value of the Allow header.
  };
  struct BadPath {};  // Percent-encoding that is malformed, or that hides NUL or bytes that are not UTF-8.
  using Match = std::variant<Found, NoRoute, WrongMethod, BadPath>;

  // `path` is still percent-encoded, so an encoded slash stays within its segment. HEAD finds the route of
  // GET.
  [[nodiscard]] Match match(Method method, std::string_view path) const;

  // Counts what the routes answer, which have all been added.
  void count_in(base::Metrics& metrics);

  [[nodiscard]] std::vector<Route> const& routes() const { return routes_; }

 private:
  Route make(Method method, std::string pattern, Access access, Handler handler) const;
  void insert(Route route);

  std::shared_ptr<Contract const> contract_;
  std::vector<Route> routes_;
};

}  // namespace runnel::http
