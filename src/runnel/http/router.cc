#include "runnel/http/router.h"

#include <boost/url/pct_string_view.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "runnel/core/text.h"

namespace runnel::http {
namespace {

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.starts_with('{') && segment.ends_with('}');
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
  return std::equal(route.segments.begin(), route.segments.end(), path.begin(), path.end(),
                    [](std::string const& expected, std::string const& given) {
                      return is_parameter(expected) ? !given.empty() : expected == given;
                    });
}

// Of two routes that fit the same path: whether `a` has the earlier literal segment.
bool more_specific(Route const& a, Route const& b) {
  for (std::size_t i = 0; i < a.segments.size(); ++i) {
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
  for (std::size_t i = 0; i < path.size(); ++i) {
    auto const& segment = route.segments[i];
    if (is_parameter(segment)) out.emplace_back(segment.substr(1, segment.size() - 2), std::move(path[i]));
  }
  return out;
}

Operation const& promised(Contract const& contract, Route const& route) {
  auto const* operation = contract.find(route.method, route.pattern);
  auto const name = std::string{to_string(route.method)} + " " + route.pattern;
  if (operation == nullptr) throw std::logic_error("the OpenAPI document has no operation " + name);
  if (!(route.access == Access::open ? operation->for_anyone : operation->for_users))
    throw std::logic_error("the OpenAPI document lets others call " + name);
  return *operation;
}

}  // namespace

void Router::add(Method method, std::string pattern, Access access, Handler handler) {
  if (!pattern.starts_with('/')) throw std::logic_error("a route begins with '/': " + pattern);
  Route route{method, pattern, access, std::move(handler), {}, nullptr};
  for (auto const segment : split(pattern))
    route.segments.emplace_back(segment);
  for (auto const& other : routes_) {
    if (other.method == method && same_shape(other, route))
      throw std::logic_error("a second route " + pattern);
  }
  if (contract_) route.operation = &promised(*contract_, route);
  routes_.push_back(std::move(route));
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
  if (best == nullptr) return WrongMethod{allow_of(fitting)};
  return Found{best, params_of(*best, std::move(*decoded))};
}

}  // namespace runnel::http
