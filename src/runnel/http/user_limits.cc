#include "runnel/http/user_limits.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace runnel::http {

using std::chrono::seconds;

namespace {
constexpr std::int64_t kSmallBody = std::int64_t{64} * 1024;
}  // namespace

std::optional<seconds> UserLimits::count_request(UserId const& user, Time now, std::int64_t cost) {
  auto& shard = shard_of(user);
  std::scoped_lock const lock{shard.mutex};
  auto& usage = usage_of(shard, user, now);
  if (usage.requests < 1) {
    auto const missing = (1 - usage.requests) / static_cast<double>(options_.requests_per_s);
    return seconds{static_cast<std::int64_t>(std::ceil(missing))};
  }
  spend(usage, cost);
  return std::nullopt;
}

void UserLimits::charge(UserId const& user, Time now, std::int64_t cost) {
  auto& shard = shard_of(user);
  std::scoped_lock const lock{shard.mutex};
  spend(usage_of(shard, user, now), cost);
}

// A user's debt is at most one burst, so that the wait is bounded.
void UserLimits::spend(Usage& usage, std::int64_t cost) const {
  usage.requests =
      std::max(usage.requests - static_cast<double>(cost), -static_cast<double>(options_.request_burst));
}

std::optional<UserLimits::StreamSlot> UserLimits::open_stream(UserId const& user, Time now) {
  auto& shard = shard_of(user);
  std::scoped_lock const lock{shard.mutex};
  auto& usage = usage_of(shard, user, now);
  if (usage.streams >= options_.streams) return std::nullopt;
  ++usage.streams;
  return StreamSlot{shard, usage};
}

UserLimits::StreamSlot::~StreamSlot() {
  if (usage_ == nullptr) return;
  std::scoped_lock const lock{shard_->mutex};
  --usage_->streams;
}

UserLimits::ByteHold UserLimits::hold_bytes(UserId const& user, Budget budget, Time now) {
  auto& shard = shard_of(user);
  std::scoped_lock const lock{shard.mutex};
  auto& usage = usage_of(shard, user, now);
  ++usage.holds;
  return ByteHold{*this, shard, usage, budget};
}

UserLimits::ByteHold::ByteHold(ByteHold&& other) noexcept
    : limits_{other.limits_},
      shard_{other.shard_},
      usage_{std::exchange(other.usage_, nullptr)},
      bytes_{std::exchange(other.bytes_, 0)},
      budget_{other.budget_} {}

UserLimits::ByteHold::~ByteHold() {
  if (usage_ == nullptr) return;
  hold(0);
  std::scoped_lock const lock{shard_->mutex};
  --usage_->holds;
}

UserLimits::Grant UserLimits::ByteHold::try_hold(std::size_t bytes) {
  auto const wanted = static_cast<std::int64_t>(bytes);
  if (wanted <= bytes_) {
    hold(bytes);
    return Grant::granted;
  }
  bool const is_body = budget_ == Budget::bodies;
  auto const limit = is_body ? limits_->options_.body_bytes : limits_->options_.answer_bytes;
  std::scoped_lock const lock{shard_->mutex};
  auto& of_user = usage_->bytes[static_cast<std::size_t>(budget_)];
  auto const others = of_user - bytes_;
  if (others > 0 && others + wanted > limit) return Grant::user_full;
  if (is_body && !limits_->add_to_all(wanted - bytes_, bytes_)) return Grant::server_full;
  of_user = others + wanted;
  bytes_ = wanted;
  return Grant::granted;
}

void UserLimits::ByteHold::hold(std::size_t bytes) {
  auto const added = static_cast<std::int64_t>(bytes) - bytes_;
  if (added == 0) return;
  if (budget_ == Budget::bodies) limits_->all_bodies_ += added;
  std::scoped_lock const lock{shard_->mutex};
  usage_->bytes[static_cast<std::size_t>(budget_)] += added;
  bytes_ += added;
}

// `own` is how much of the total the caller already holds. Small bodies are counted but never refused;
// otherwise users who fill the budget with large bodies would lock everybody out.
bool UserLimits::add_to_all(std::int64_t added, std::int64_t own) {
  auto const before = all_bodies_.fetch_add(added);
  if (own + added <= kSmallBody) return true;
  if (before <= own || before + added <= options_.all_body_bytes) return true;
  all_bodies_ -= added;
  return false;
}

std::size_t UserLimits::users() const {
  std::size_t count = 0;
  for (auto const& shard : shards_) {
    std::scoped_lock const lock{shard.mutex};
    count += shard.users.size();
  }
  return count;
}

UserLimits::Shard& UserLimits::shard_of(UserId const& user) {
  return shards_[std::hash<std::string>{}(user.text) % shards_.size()];
}

// The user's usage, brought up to `now`. The reference stays valid while the user has streams or holds, and
// until the lock is released.
UserLimits::Usage& UserLimits::usage_of(Shard& shard, UserId const& user, Time now) const {
  auto const found = shard.users.find(user.text);
  if (found != shard.users.end()) {
    refill(found->second, now);
    return found->second;
  }
  forget_quiet(shard, now);
  auto& usage = shard.users[user.text];
  usage.requests = static_cast<double>(options_.request_burst);
  usage.counted_at = now;
  return usage;
}

void UserLimits::refill(Usage& usage, Time now) const {
  if (now <= usage.counted_at) return;  // Two threads may have read the clock in the other order.
  std::chrono::duration<double> const passed = now - usage.counted_at;
  usage.requests = std::min(static_cast<double>(options_.request_burst),
                            usage.requests + passed.count() * static_cast<double>(options_.requests_per_s));
  usage.counted_at = now;
}

// Does its work each time the number of users in the shard has doubled, so that it costs little per user.
void UserLimits::forget_quiet(Shard& shard, Time now) const {
  if (shard.users.size() < shard.forget_above) return;
  std::erase_if(shard.users, [this, now](auto const& item) {
    auto usage = item.second;
    refill(usage, now);
    return usage.streams == 0 && usage.holds == 0 &&
           usage.requests >= static_cast<double>(options_.request_burst);
  });
  shard.forget_above = std::max<std::size_t>(64, 2 * shard.users.size());
}

}  // namespace runnel::http
