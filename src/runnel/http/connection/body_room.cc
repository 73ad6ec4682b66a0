#include "runnel/http/connection/body_room.h"

#include <algorithm>
#include <chrono>

#include "runnel/http/connection/refusals.h"
#include "runnel/http/request_refusals.h"

namespace runnel::http {
namespace {

// A body in chunks takes its bytes in steps of this size, and each step counts as one request.
constexpr std::size_t kStep = std::size_t{64} * 1024;

std::size_t limit_of(api::Route const& route, Limits const& limits) {
  if (!route.takes_body) return kMostOfNoBody;
  if (route.options.bodies == api::Bodies::messages) return limits.body_bytes;
  return std::min(limits.small_body_bytes, limits.body_bytes);
}

}  // namespace

std::int64_t cost_of_body(std::uint64_t bytes) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes / kStep + (bytes % kStep == 0 ? 0 : 1)));
}

BodyRoom::BodyRoom(api::Route const& route, UserId const& user, Limits const& limits, UserLimits& user_limits,
                   HttpMetrics const& metrics)
    : route_{route},
      user_{user},
      user_limits_{user_limits},
      metrics_{metrics},
      limit_{limit_of(route, limits)} {}

std::optional<api::Response> BodyRoom::announce(std::optional<std::uint64_t> length) {
  announced_ = length.has_value();
  if (length && *length > limit_) return too_large();
  return take(static_cast<std::size_t>(length.value_or(std::min(kStep, limit_))));
}

std::optional<api::Response> BodyRoom::grow(std::size_t arrived) {
  if (announced_ || !hold_ || arrived < hold_->bytes() || hold_->bytes() == limit_) return std::nullopt;
  user_limits_.charge(user_, std::chrono::steady_clock::now(), 1);
  return take(std::min(hold_->bytes() + kStep, limit_));
}

// If no user is known, the body is no larger than a head, so it is not counted.
std::optional<api::Response> BodyRoom::take(std::size_t bytes) {
  if (user_.empty() || !route_.takes_body) return std::nullopt;
  if (!hold_) {
    hold_.emplace(
        user_limits_.hold_bytes(user_, UserLimits::Budget::bodies, std::chrono::steady_clock::now()));
  }
  switch (hold_->try_hold(bytes)) {
    case UserLimits::Grant::user_full:
      metrics_.rate_limited(RateLimit::body_bytes).add();
      return too_many_body_bytes(user_limits_.options().body_bytes);
    case UserLimits::Grant::server_full:
      metrics_.rate_limited(RateLimit::all_body_bytes).add();
      return server_full_of_bodies();
    case UserLimits::Grant::granted:
      break;
  }
  return std::nullopt;
}

api::Response BodyRoom::too_large() const {
  return route_.takes_body ? body_too_large(limit_) : no_body_taken();
}

}  // namespace runnel::http
