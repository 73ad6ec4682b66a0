#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "runnel/core/ids.h"

namespace runnel::http {

// How much one user may ask of this server (HTTP-6). The defaults leave room for ten tasks polled every 0.5
// s.
struct UserLimitOptions {
  std::int64_t requests_per_s = 50;  // Sustained.
  std::int64_t request_burst = 200;  // Ahead of that rate.
  std::int64_t streams = 100;        // Open at once.
};

// Counts requests and open streams by user. Any thread may call. Who has been quiet for long is forgotten, so
// it holds about as many users as are active.
class UserLimits {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit UserLimits(UserLimitOptions options) : options_{options} {}
  UserLimits(UserLimits const&) = delete;
  UserLimits& operator=(UserLimits const&) = delete;

  // Counts a request. None: it may go on; otherwise the time after which another would.
  std::optional<std::chrono::seconds> count_request(UserId const& user, Time now);

  struct Usage;
  struct Shard;

  // One open stream, until it is destroyed. The limits outlive it.
  class StreamSlot {
   public:
    StreamSlot(Shard& shard, Usage& usage) : shard_{&shard}, usage_{&usage} {}
    StreamSlot(StreamSlot&& other) noexcept : shard_{other.shard_}, usage_{other.usage_} {
      other.usage_ = nullptr;
    }
    StreamSlot& operator=(StreamSlot&&) = delete;
    ~StreamSlot();

   private:
    Shard* shard_;
    Usage* usage_;
  };

  // None: the user has as many as he may.
  std::optional<StreamSlot> open_stream(UserId const& user, Time now);

  [[nodiscard]] UserLimitOptions const& options() const { return options_; }
  [[nodiscard]] std::size_t users() const;

  struct Usage {
    double requests = 0;  // That may still come at once.
    Time counted_at;
    std::int64_t streams = 0;
  };
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string, Usage> users;
    std::size_t forget_above = 64;
  };

 private:
  Shard& shard_of(UserId const& user);
  Usage& usage_of(Shard& shard, UserId const& user, Time now) const;
  void refill(Usage& usage, Time now) const;
  void forget_quiet(Shard& shard, Time now) const;

  UserLimitOptions const options_;
  std::array<Shard, 16> shards_;
};

}  // namespace runnel::http
