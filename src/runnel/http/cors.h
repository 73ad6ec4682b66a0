#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/http/message.h"

namespace runnel::http {

// Which pages of other origins may call the API (HTTP-8): those in the list, by exact match, and without
// cookies, which this server has none of. An empty list: none, and no CORS header is ever sent.
class Cors {
 public:
  Cors() = default;
  explicit Cors(std::vector<std::string> origins);

  // Fails with `invalid` for what no browser sends as an Origin: anything but scheme://host[:port] in lower
  // case.
  static Result<void> check(std::vector<std::string> const& origins);

  [[nodiscard]] bool allows(std::string_view origin) const;

  // What any answer to the request carries.
  [[nodiscard]] Pairs headers_for(Request const& request) const;

  static bool is_preflight(Request const& request);
  // `methods` is what the address takes, as in an Allow header.
  [[nodiscard]] Response answer_preflight(Request const& request, std::string const& methods) const;

 private:
  std::vector<std::string> origins_;
};

}  // namespace runnel::http
