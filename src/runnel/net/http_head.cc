#include <algorithm>

#include "runnel/net/http_client.h"

namespace runnel::net {

std::optional<std::string_view> HttpHead::header(std::string_view name) const {
  auto const found =
      std::find_if(headers.begin(), headers.end(), [name](auto const& field) { return field.first == name; });
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

}  // namespace runnel::net
