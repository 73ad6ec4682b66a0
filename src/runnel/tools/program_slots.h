#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "runnel/base/cancel.h"
#include "runnel/core/error.h"
#include "runnel/core/ids.h"

namespace runnel::tools {

struct ProgramSlotLimits {
  std::size_t per_user = 4;
  std::size_t total = 64;
};

// Limits how many programs run at once. A call that finds no free slot waits; users take turns, so a user
// with many calls delays only these. It outlives its slots. Any core may use it.
class ProgramSlots {
 public:
  using Limits = ProgramSlotLimits;

  // The right to run one program. It ends with this object.
  class Slot {
   public:
    Slot(ProgramSlots& slots, std::string user) : slots_{&slots}, user_{std::move(user)} {}
    Slot(Slot&& other) noexcept
        : slots_{std::exchange(other.slots_, nullptr)}, user_{std::move(other.user_)} {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (slots_ != nullptr) slots_->release(user_);
    }

   private:
    ProgramSlots* slots_;
    std::string user_;
  };

  explicit ProgramSlots(Limits limits) : limits_{limits} {}
  ProgramSlots(ProgramSlots const&) = delete;
  ProgramSlots& operator=(ProgramSlots const&) = delete;

  // Waits until a slot is free. Fails with `canceled` if `cancel` is requested before.
  boost::asio::awaitable<Result<Slot>> take(UserId user, std::shared_ptr<base::Cancel> cancel);

 private:
  struct Waiter;
  // Of one user. It is kept only while the user has a slot or waits for one.
  struct Share {
    std::size_t taken = 0;
    std::deque<std::shared_ptr<Waiter>> waiting;
  };

  bool enter(std::string const& user, std::shared_ptr<Waiter> const& waiter);
  bool leave(std::string const& user, Waiter const& waiter);
  void release(std::string const& user);
  std::shared_ptr<Waiter> next();
  void forget_if_idle(std::string const& user);

  Limits const limits_;
  std::mutex mutex_;  // Guards all below.
  std::size_t taken_ = 0;
  std::map<std::string, Share, std::less<>> shares_;
  std::string last_;  // The user who got the last slot that somebody waited for.
};

}  // namespace runnel::tools
