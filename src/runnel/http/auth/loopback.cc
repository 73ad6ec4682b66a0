#include "runnel/http/auth/loopback.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

#include "runnel/core/text/text.h"

namespace runnel::http {
namespace {

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_loopback_v4(std::string_view name) {
  in_addr address{};
  return name.starts_with("127.") && inet_pton(AF_INET, std::string{name}.c_str(), &address) == 1;
}

bool is_label_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

bool is_localhost(std::string_view name) {
  constexpr std::string_view kName = "localhost";
  if (equal_ignoring_case(name, kName)) return true;
  if (name.size() <= kName.size() + 1 || !std::all_of(name.begin(), name.end(), is_label_char)) return false;
  auto const tail = name.substr(name.size() - kName.size());
  return equal_ignoring_case(tail, kName) && name[name.size() - kName.size() - 1] == '.' &&
         name.front() != '.';
}

}  // namespace

bool is_loopback_host(std::string_view host) {
  constexpr std::string_view kV6 = "[::1]";
  auto const name_end = host.starts_with('[') ? host.find(']') : host.find(':');
  auto const name = host.substr(0, host.starts_with('[') ? name_end + 1 : name_end);
  auto const rest = host.substr(name.size());
  if (!rest.empty() && !(rest.front() == ':' && is_port(rest.substr(1)))) return false;
  return name == kV6 || is_localhost(name) || is_loopback_v4(name);
}

bool is_loopback_origin(std::string_view origin) {
  for (std::string_view const scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return is_loopback_host(origin.substr(scheme.size()));
  }
  return false;
}

}  // namespace runnel::http
