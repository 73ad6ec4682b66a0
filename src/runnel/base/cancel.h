#pragma once

#include <functional>
#include <list>
#include <optional>
#include <utility>

namespace runnel::base {

// Why work is asked to stop.
enum class CancelReason {
  user,      // RUN-4.
  replaced,  // onBusy interrupt or rollback.
  time_up,   // It took longer than it may.
  shutdown,  // The process stops: leave the run for the next one.
};

// Asks one piece of work to stop. Not ambient: whoever waits takes it as a parameter and registers how to
// wake the wait. All calls on one core.
class Cancel {
 public:
  Cancel() = default;
  Cancel(Cancel const&) = delete;
  Cancel& operator=(Cancel const&) = delete;

  // Wakes all waits. The first reason stands, but shutdown comes before any other.
  void request(CancelReason reason) {
    if (reason_ && reason != CancelReason::shutdown) return;
    reason_ = reason;
    auto wakers = std::move(wakers_);
    wakers_.clear();
    for (auto& wake : wakers)
      wake();
  }

  [[nodiscard]] bool requested() const { return reason_.has_value(); }
  [[nodiscard]] std::optional<CancelReason> reason() const { return reason_; }

  // While it lives, `wake` is called once when the stop is requested.
  class Registration {
   public:
    Registration(Cancel& cancel, std::function<void()> wake) : cancel_{cancel} {
      at_ = cancel_.wakers_.insert(cancel_.wakers_.end(), std::move(wake));
    }
    Registration(Registration const&) = delete;
    Registration& operator=(Registration const&) = delete;
    ~Registration() {
      if (!cancel_.requested()) cancel_.wakers_.erase(at_);
    }

   private:
    Cancel& cancel_;
    std::list<std::function<void()>>::iterator at_;
  };

 private:
  std::optional<CancelReason> reason_;
  std::list<std::function<void()>> wakers_;
};

}  // namespace runnel::base
