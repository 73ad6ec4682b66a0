#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "runnel/core/ids.h"

namespace runnel::http {

// How much one user may ask of this server (HTTP-6, HTTP-9). The defaults leave room for ten tasks that are
// each polled every 0.5 s.
struct UserLimitOptions {
  std::int64_t requests_per_s = 50;  // Sustained.
  std::int64_t request_burst = 200;  // At once, before that rate applies.
  std::int64_t streams = 100;        // Open at once.

  // Bytes in flight (HTTP-9). Request bodies count from their head until their answer, for one user and for
  // all users together. Answers to one user count from when they are made until the kernel has them.
  std::int64_t body_bytes = std::int64_t{16} * 1024 * 1024;
  std::int64_t all_body_bytes = std::int64_t{64} * 1024 * 1024;
  std::int64_t answer_bytes = std::int64_t{16} * 1024 * 1024;
};

// Counts requests, open streams and bytes in flight per user. Any thread may call it. Users who have been
// quiet for long are forgotten, so it holds about as many users as are active.
class UserLimits {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit UserLimits(UserLimitOptions options) : options_{options} {}
  UserLimits(UserLimits const&) = delete;
  UserLimits& operator=(UserLimits const&) = delete;

  // Counts a request as `cost` requests. Empty if the request may proceed, otherwise the time after which
  // another one may. A request that costs more than is left proceeds, and those after it wait longer.
  std::optional<std::chrono::seconds> count_request(UserId const& user, Time now, std::int64_t cost = 1);

  // Counts what a request that was let through has turned out to cost in addition.
  void charge(UserId const& user, Time now, std::int64_t cost);

  struct Usage;
  struct Shard;

  // One open stream, until the slot is destroyed. The limits outlive it.
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

  // Empty if the user has reached the limit of open streams.
  std::optional<StreamSlot> open_stream(UserId const& user, Time now);

  enum class Budget : std::uint8_t { bodies, answers };
  enum class Grant : std::uint8_t { granted, user_full, server_full };

  // Bytes that are in flight for a user, until the hold is destroyed. Belongs to one thread at a time. The
  // limits outlive it.
  class ByteHold {
   public:
    ByteHold(UserLimits& limits, Shard& shard, Usage& usage, Budget budget)
        : limits_{&limits}, shard_{&shard}, usage_{&usage}, budget_{budget} {}
    ByteHold(ByteHold&& other) noexcept;
    ByteHold& operator=(ByteHold&&) = delete;
    ~ByteHold();

    // Changes the number of bytes held to `bytes`, if the budgets allow it. If nothing else is in flight,
    // they allow any number, so that no budget is too small to be of use. Fewer bytes than before are always
    // granted.
    [[nodiscard]] Grant try_hold(std::size_t bytes);
    // Changes the number of bytes held whatever the budgets say, because the bytes exist already.
    void hold(std::size_t bytes);

    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(bytes_); }

   private:
    UserLimits* limits_;
    Shard* shard_;
    Usage* usage_;
    std::int64_t bytes_ = 0;
    Budget budget_;
  };

  // The returned hold holds no bytes at first.
  ByteHold hold_bytes(UserId const& user, Budget budget, Time now);

  [[nodiscard]] UserLimitOptions const& options() const { return options_; }
  [[nodiscard]] std::size_t users() const;

  struct Usage {
    double requests = 0;  // How many may still come at once.
    Time counted_at;
    std::int64_t streams = 0;
    std::int64_t holds = 0;
    std::array<std::int64_t, 2> bytes{};  // In flight, by budget.
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
  void spend(Usage& usage, std::int64_t cost) const;
  bool add_to_all(std::int64_t added, std::int64_t own);

  UserLimitOptions const options_;
  std::array<Shard, 16> shards_;
  std::atomic<std::int64_t> all_bodies_ = 0;
};

}  // namespace runnel::http
