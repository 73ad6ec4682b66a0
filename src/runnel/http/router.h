#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/http/contract.h"
#include "runnel/http/handler.h"
#include "runnel/http/message.h"

namespace runnel::http {

enum class Access {
  open,  // Anyone.
  user,  // A valid bearer token; the request then has its user.
};

struct Route {
  Method method = Method::other;
  std::string pattern;
  Access access = Access::user;
  Handler handler;
  std::vector<std::string> segments;     // The pattern's.
  Operation const* operation = nullptr;  // What the contract says of it; null where the router has none.
};

// Which handler answers which path. Filled before the server starts, only read after.
class Router {
 public:
  // Without a contract nothing is declared, so nothing is enforced: for tests that bring their own routes.
  Router() = default;
  explicit Router(std::shared_ptr<Contract const> contract) : contract_{std::move(contract)} {}

  // `pattern` is like "/api/v1/runs/{thread_id}/cancel"; a {name} takes one segment that is not empty. Where
  // several patterns fit, the one with the earlier literal segment wins. Throws on a malformed or repeated
  // route, and on one that the contract lacks or gives to others.
  void add(Method method, std::string pattern, Access access, Handler handler);

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

  [[nodiscard]] std::vector<Route> const& routes() const { return routes_; }

 private:
  std::shared_ptr<Contract const> contract_;
  std::vector<Route> routes_;
};

}  // namespace runnel::http
