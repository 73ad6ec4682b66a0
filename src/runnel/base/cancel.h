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
  class Registration;

  Cancel() = default;
  Cancel(Cancel const&) = delete;
  Cancel& operator=(Cancel const&) = delete;

  // Wakes all waits. The first reason stands, but shutdown comes before any other.
  void request(CancelReason reason);

  [[nodiscard]] bool requested() const { return reason_.has_value(); }
  [[nodiscard]] std::optional<CancelReason> reason() const { return reason_; }

 private:
  std::optional<CancelReason> reason_;
  std::list<Registration*> waits_;
};

// While it lives, `wake` is called once, when the next stop is requested. One that is made after a request is
// woken by a shutdown only: look at `requested()` first.
class Cancel::Registration {
 public:
  Registration(Cancel& cancel, std::function<void()> wake) : wake_{std::move(wake)}, list_{&cancel.waits_} {
    at_ = list_->insert(list_->end(), this);
  }
  Registration(Registration const&) = delete;
  Registration& operator=(Registration const&) = delete;
  ~Registration() {
    if (list_ != nullptr) list_->erase(at_);
  }

 private:
  friend class Cancel;

  std::function<void()> wake_;
  std::list<Registration*>* list_;  // Where it stands; null: it was woken.
  std::list<Registration*>::iterator at_;
};

inline void Cancel::request(CancelReason reason) {
  if (reason_ && reason != CancelReason::shutdown) return;
  reason_ = reason;
  // A wait that is woken may end others, and begin new ones, which this request does not wake.
  auto waking = std::exchange(waits_, {});
  for (auto* wait : waking)
    wait->list_ = &waking;
  while (!waking.empty()) {
    auto* const wait = waking.front();
    waking.pop_front();
    wait->list_ = nullptr;
    auto const wake = std::move(wait->wake_);
    wake();
  }
}

}  // namespace runnel::base
