#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runnel/api/router.h"
#include "runnel/http/connection/limits.h"
#include "runnel/http/http_metrics.h"
#include "runnel/http/user_limits.h"

namespace runnel::http {

// The size limit of a body on a route that takes none: such a body is empty or `{}`, with some white space.
inline constexpr std::size_t kMostOfNoBody = 1024;

// The bytes that one request's body takes of what the route, its user and the server allow (HTTP-9), until
// the object is destroyed. They are taken before they are read: all at once if a length is announced,
// otherwise in steps.
class BodyRoom {
 public:
  // All arguments outlive it.
  BodyRoom(api::Route const& route, UserId const& user, Limits const& limits, UserLimits& user_limits,
           HttpMetrics const& metrics);

  // How large the body may become.
  [[nodiscard]] std::size_t limit() const { return limit_; }
  // The route takes no body: an empty one may come, but the server does not wait long for it.
  [[nodiscard]] bool is_for_none() const { return !route_.takes_body; }

  // Call this before anything is read. Returns a response if the body is refused.
  [[nodiscard]] std::optional<api::Response> announce(std::optional<std::uint64_t> length);
  // Call this when `arrived` bytes have come; it matters only for a body whose length was not announced.
  // Returns a response if no more may come.
  [[nodiscard]] std::optional<api::Response> grow(std::size_t arrived);
  // The answer to a body that exceeds the limit.
  [[nodiscard]] api::Response too_large() const;

 private:
  std::optional<api::Response> take(std::size_t bytes);

  api::Route const& route_;
  UserId const user_;
  UserLimits& user_limits_;
  HttpMetrics const& metrics_;
  std::size_t const limit_;
  bool announced_ = false;
  std::optional<UserLimits::ByteHold> hold_;
};

// How many requests a request with a body of this size counts as: a user's rate limits bytes, too.
std::int64_t cost_of_body(std::uint64_t bytes);

}  // namespace runnel::http
