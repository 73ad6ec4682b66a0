#include "runnel/api/message.h"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "runnel/api/openapi_contract.h"
#include "runnel/core/text/text.h"

namespace runnel::api {
namespace {

// Far more than any route takes. There is a limit because each item is compared with every other one.
constexpr std::size_t kMostQueryItems = 64;

bool is_plain_text(std::string_view text) {
  return text.find('\0') == std::string_view::npos && is_utf8(text);
}

// RFC 3986, section 3.3. The router checks what follows a '%'.
bool is_path_character(char c) {
  bool const alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return alphanumeric ||
         (c != '\0' && std::string_view{"/-._~!$&'()*+,;=:@%"}.find(c) != std::string_view::npos);
}

// Removes the scheme and the authority: a server must also accept the absolute form (RFC 9112,
// section 3.2.2).
std::optional<std::string> take_authority(std::string_view& target) {
  for (std::string_view const scheme : {"http://", "https://"}) {
    if (!equal_ignoring_case(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    std::string authority{target.substr(0, target.find_first_of("/?#"))};
    target.remove_prefix(authority.size());
    if (target.empty()) target = "/";
    return authority;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Method method) {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::post:
      return "POST";
    case Method::put:
      return "PUT";
    case Method::patch:
      return "PATCH";
    case Method::del:
      return "DELETE";
    case Method::head:
      return "HEAD";
    case Method::options:
      return "OPTIONS";
    case Method::other:
      break;
  }
  return "OTHER";
}

std::optional<std::string> Request::query(std::string_view name) const {
  if (operation != nullptr && !operation->has_query(name))
    throw std::logic_error("the operation declares no query parameter " + std::string{name});
  for (auto const& [key, value] : query_items) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::optional<std::string> Request::repeated_query() const {
  for (auto it = query_items.begin(); it != query_items.end(); ++it) {
    auto const same = [&it](auto const& item) { return item.first == it->first; };
    if (std::any_of(query_items.begin(), it, same)) return it->first;
  }
  return std::nullopt;
}

std::optional<std::string_view> Request::header(std::string_view name) const {
  for (auto const& [key, value] : headers) {
    if (equal_ignoring_case(key, name)) return value;
  }
  return std::nullopt;
}

std::size_t Request::count_headers(std::string_view name) const {
  auto const named = [name](auto const& item) { return equal_ignoring_case(item.first, name); };
  return static_cast<std::size_t>(std::count_if(headers.begin(), headers.end(), named));
}

std::string const& Request::param(std::string_view name) const {
  for (auto const& [key, value] : params) {
    if (key == name) return value;
  }
  throw std::logic_error("the route has no parameter " + std::string{name});
}

boost::json::value const& Request::json() const {
  if (parsed_body == nullptr) throw std::logic_error("the operation declares no body");
  return *parsed_body;
}

Response json_response(int status, std::string body) {
  return {status, "application/json", std::move(body), {}};
}

Response empty_response(int status) {
  return {status, {}, {}, {}};
}

Result<Target> parse_target(std::string_view target) {
  auto authority = take_authority(target);
  auto const query_at = target.find('?');
  auto const path = target.substr(0, query_at);
  if (!path.starts_with('/')) return Error{Errc::invalid, "the request target is not a path"};
  if (!std::all_of(path.begin(), path.end(), is_path_character))
    return Error{Errc::invalid, "the path has a character that must be encoded"};

  // The router gets the path as it was sent, because a URL parser would read "//a" as an authority.
  Target out{std::move(authority), std::string{path}, {}};
  if (query_at == std::string_view::npos) return out;

  auto const query = boost::urls::parse_uri_reference(target.substr(query_at));
  if (!query || query->has_fragment()) return Error{Errc::invalid, "the query is malformed"};
  for (auto const& item : query->params()) {
    if (!is_plain_text(item.key) || !is_plain_text(item.value))
      return Error{Errc::invalid, "the query is not UTF-8 text"};
    if (out.query_items.size() == kMostQueryItems)
      return Error{Errc::invalid, "the query has too many items"};
    out.query_items.emplace_back(item.key, item.value);
  }
  return out;
}

std::string encode_component(std::string_view text) {
  std::string out;
  for (char const c : text) {
    bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace runnel::api
