#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runnel/http/http_metrics.h"
#include "runnel/http/limits.h"
#include "runnel/http/router.h"
#include "runnel/http/user_limits.h"

namespace runnel::http {

// What a body that stands for none may have: nothing or `{}`, with some white space.
inline constexpr std::size_t kMostOfNoBody = 1024;

// The bytes that one request's body takes of what the route, its user and the server allow (HTTP-9), until
// it is destroyed. They are taken before they are read: at once where a length is announced, else in steps.
class BodyRoom {
 public:
  // All outlive it.
  BodyRoom(Route const& route, UserId const& user, Limits const& limits, UserLimits& user_limits,
           HttpMetrics const& metrics);

  // How large the body may become.
  [[nodiscard]] std::size_t limit() const { return limit_; }
  // The route takes none: what comes is at best an empty one, and nobody is waited for.
  [[nodiscard]] bool is_for_none() const { return !route_.takes_body; }

  // Before anything is read. A response: the body may not come.
  [[nodiscard]] std::optional<Response> announce(std::optional<std::uint64_t> length);
  // So much has come of a body whose length was not announced. A response: no more may come.
  [[nodiscard]] std::optional<Response> grow(std::size_t arrived);
  // What is said of a body beyond the limit.
  [[nodiscard]] Response too_large() const;

 private:
  std::optional<Response> take(std::size_t bytes);

  Route const& route_;
  UserId const user_;
  UserLimits& user_limits_;
  HttpMetrics const& metrics_;
  std::size_t const limit_;
  bool announced_ = false;
  std::optional<UserLimits::ByteHold> hold_;
};

// How many requests a body of that size counts as, with its own: a user's rate is one of bytes, too.
std::int64_t cost_of_body(std::uint64_t bytes);

}  // namespace runnel::http
