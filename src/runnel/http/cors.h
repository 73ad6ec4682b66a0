#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runnel/api/message.h"
#include "runnel/core/error.h"

namespace runnel::http {

// Decides which pages of other origins may call the API (HTTP-8): those whose origin is in the list, by exact
// match, and without cookies, because this server uses none. If the list is empty, no page of another origin
// may call it, and no CORS header is ever sent.
class Cors {
 public:
  Cors() = default;
  explicit Cors(std::vector<std::string> origins);

  // Fails with `invalid` for an origin that no browser sends: anything but http://host[:port] or
  // https://host[:port] in lower case.
  static Result<void> check(std::vector<std::string> const& origins);

  [[nodiscard]] bool allows(std::string_view origin) const;

  // The headers that every answer to the request carries.
  [[nodiscard]] api::Pairs headers_for(api::Request const& request) const;

  static bool is_preflight(api::Request const& request);
  // `methods` lists the methods that the path takes, as in an Allow header.
  [[nodiscard]] api::Response answer_preflight(api::Request const& request, std::string const& methods) const;

 private:
  std::vector<std::string> origins_;
};

}  // namespace runnel::http
