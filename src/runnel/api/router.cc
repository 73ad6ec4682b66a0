#include "runnel/api/router.h"

#include <boost/url/pct_string_view.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "runnel/core/text/text.h"

namespace runnel::api {
namespace {

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.starts_with('{') && segment.ends_with('}');
}

bool is_tail(std::string_view segment) {
  return is_parameter(segment) && segment.ends_with("...}");
}

bool has_tail(Route const& route) {
  return is_tail(route.segments.back());
}

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> out;
  path.remove_prefix(1);
  for (;;) {
    auto const slash = path.find('/');
    out.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    path.remove_prefix(slash + 1);
  }
}

std::optional<std::vector<std::string>> decode(std::string_view path) {
  std::vector<std::string> out;
  for (auto const segment : split(path)) {
    auto const checked = boost::urls::make_pct_string_view({segment.data(), segment.size()});
    if (!checked) return std::nullopt;
    auto text = checked->decode();
    if (text.find('\0') != std::string::npos || !is_utf8(text)) return std::nullopt;
    out.push_back(std::move(text));
  }
  return out;
}

bool fits(Route const& route, std::vector<std::string> const& path) {
  auto const single = route.segments.size() - (has_tail(route) ? 1 : 0);
  if (has_tail(route) ? path.size() <= single : path.size() != single) return false;
  if (has_tail(route) && path.front() == "api") return false;  // No path under /api is a file.
  return std::equal(route.segments.begin(), route.segments.begin() + static_cast<std::ptrdiff_t>(single),
                    path.begin(), [](std::string const& expected, std::string const& given) {
                      return is_parameter(expected) ? !given.empty() : expected == given;
                    });
}

// Whether `a` has the earlier literal segment. Both routes must match the same path.
bool more_specific(Route const& a, Route const& b) {
  for (std::size_t i = 0; i < std::min(a.segments.size(), b.segments.size()); ++i) {
    if (is_tail(a.segments[i]) != is_tail(b.segments[i])) return is_tail(b.segments[i]);
    bool const a_literal = !is_parameter(a.segments[i]);
    bool const b_literal = !is_parameter(b.segments[i]);
    if (a_literal != b_literal) return a_literal;
  }
  return false;
}

bool same_shape(Route const& a, Route const& b) {
  return std::equal(a.segments.begin(), a.segments.end(), b.segments.begin(), b.segments.end(),
                    [](std::string const& x, std::string const& y) {
                      return x == y || (is_parameter(x) && is_parameter(y));
                    });
}

std::string allow_of(std::vector<Route const*> const& fitting) {
  std::vector<std::string_view> names;
  for (auto const* route : fitting) {
    names.push_back(to_string(route->method));
    if (route->method == Method::get) names.push_back(to_string(Method::head));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string out;
  for (auto const name : names) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

Route const* best_of(std::vector<Route const*> const& fitting, Method method) {
  Route const* best = nullptr;
  for (auto const* route : fitting) {
    if (route->method == method && (best == nullptr || more_specific(*route, *best))) best = route;
  }
  return best;
}

Pairs params_of(Route const& route, std::vector<std::string> path) {
  Pairs out;
  if (has_tail(route)) {
    for (auto i = route.segments.size(); i < path.size(); ++i)
      path[route.segments.size() - 1] += "/" + path[i];
    auto const& segment = route.segments.back();
    out.emplace_back(segment.substr(1, segment.size() - 5), path[route.segments.size() - 1]);
  }
  for (std::size_t i = 0; i < route.segments.size(); ++i) {
    auto const& segment = route.segments[i];
    if (is_parameter(segment) && !is_tail(segment))
      out.emplace_back(segment.substr(1, segment.size() - 2), std::move(path[i]));
  }
  return out;
}

Operation const& promised(OpenApiContract const& contract, Route const& route) {
  auto const* operation = contract.find(route.method, route.pattern);
  auto const name = std::string{to_string(route.method)} + " " + route.pattern;
  if (operation == nullptr) throw std::logic_error("the OpenAPI document has no operation " + name);
  bool const needs_no_token = route.access == Access::open || route.access == Access::path_secret;
  if (!(needs_no_token ? operation->for_anyone : operation->for_users))
    throw std::logic_error("the OpenAPI document declares other access for " + name);
  return *operation;
}

}  // namespace

Route Router::make(Method method, std::string pattern, Access access, Handler handler) const {
  Route route{method, std::move(pattern), access, std::move(handler)};
  if (contract_) {
    route.operation = &promised(*contract_, route);
    route.takes_body = route.operation->takes_body();
  }
  return route;
}

void Router::add(Method method, std::string pattern, Access access, Handler handler, RouteOptions options) {
  auto route = make(method, std::move(pattern), access, std::move(handler));
  route.options = std::move(options);
  if ((route.access == Access::path_secret) != static_cast<bool>(route.options.owner_of))
    throw std::logic_error("only a route with a secret in its path has an owner_of: " + route.pattern);
  insert(std::move(route));
}

void Router::add_beside_contract(Method method, std::string pattern, Handler handler) {
  Route route{method, std::move(pattern), Access::open, std::move(handler)};
  route.takes_body = false;
  insert(std::move(route));
}

void Router::insert(Route route) {
  if (!route.pattern.starts_with('/'))
    throw std::logic_error("a route must begin with '/': " + route.pattern);
  for (auto const segment : split(route.pattern))
    route.segments.emplace_back(segment);
  for (auto const& other : routes_) {
    if (other.method == route.method && same_shape(other, route))
      throw std::logic_error("the route is already there: " + route.pattern);
  }
  routes_.push_back(std::move(route));
}

void Router::count_in(base::Metrics& metrics) {
  for (auto& route : routes_)
    route.metrics = RouteMetrics{metrics, to_string(route.method), route.pattern};
}

Router::Match Router::match(Method method, std::string_view path) const {
  if (!path.starts_with('/')) return BadPath{};
  auto decoded = decode(path);
  if (!decoded) return BadPath{};

  std::vector<Route const*> fitting;
  for (auto const& route : routes_) {
    if (fits(route, *decoded)) fitting.push_back(&route);
  }
  if (fitting.empty()) return NoRoute{};

  auto const* best = best_of(fitting, method);
  if (best == nullptr && method == Method::head) best = best_of(fitting, Method::get);
  if (best == nullptr) return WrongMethod{allow_of(fitting), fitting.front()};
  return Found{best, params_of(*best, std::move(*decoded))};
}

}  // namespace runnel::api
