#include "runnel/http/user_limits.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace runnel::http {

using std::chrono::seconds;

std::optional<seconds> UserLimits::count_request(UserId const& user, Time now) {
  auto& shard = shard_of(user);
  std::scoped_lock const lock{shard.mutex};
  auto& usage = usage_of(shard, user, now);
  if (usage.requests < 1) {
    auto const missing = (1 - usage.requests) / static_cast<double>(options_.requests_per_s);
    return seconds{static_cast<std::int64_t>(std::ceil(missing))};
  }
  usage.requests -= 1;
  return std::nullopt;
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

// Brought up to `now`. The reference stays good while the user has streams, and until the lock is given back.
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
  if (now <= usage.counted_at) return;  // Two threads may have read the clock the other way round.
  std::chrono::duration<double> const passed = now - usage.counted_at;
  usage.requests = std::min(static_cast<double>(options_.request_burst),
                            usage.requests + passed.count() * static_cast<double>(options_.requests_per_s));
  usage.counted_at = now;
}

// Each time the shard has doubled, so that it costs little for each user.
void UserLimits::forget_quiet(Shard& shard, Time now) const {
  if (shard.users.size() < shard.forget_above) return;
  std::erase_if(shard.users, [this, now](auto const& item) {
    auto usage = item.second;
    refill(usage, now);
    return usage.streams == 0 && usage.requests >= static_cast<double>(options_.request_burst);
  });
  shard.forget_above = std::max<std::size_t>(64, 2 * shard.users.size());
}

}  // namespace runnel::http
