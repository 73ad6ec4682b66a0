#pragma once

#include <functional>
#include <list>
#include <optional>
#include <utility>

namespace runnel::base {

// Why work is asked to stop.
enum class CancelReason {
  user,      // The user canceled the run (RUN-4).
  replaced,  // A new run replaces this one: onBusy is interrupt or rollback.
  time_up,   // The work took longer than allowed.
  shutdown,  // The process stops; the next process continues the run.
};

// Asks one piece of work to stop. It is passed explicitly: code that waits takes it as a parameter and
// registers how to wake the wait. All calls must be on one core.
class Cancel {
 public:
  class Registration;

  Cancel() = default;
  Cancel(Cancel const&) = delete;
  Cancel& operator=(Cancel const&) = delete;

  // Wakes all waits. The first reason is kept, except that shutdown replaces any other reason.
  void request(CancelReason reason);

  [[nodiscard]] bool requested() const { return reason_.has_value(); }
  [[nodiscard]] std::optional<CancelReason> reason() const { return reason_; }

 private:
  std::optional<CancelReason> reason_;
  std::list<Registration*> waits_;
};

// As long as this object exists, the next request for a stop calls `wake`, once. After a first request only a
// shutdown does so: check `requested()` before registering.
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
  std::list<Registration*>* list_;  // The list that holds it. Null if it has been woken.
  std::list<Registration*>::iterator at_;
};

inline void Cancel::request(CancelReason reason) {
  if (reason_ && reason != CancelReason::shutdown) return;
  reason_ = reason;
  // A wait that is woken may end other waits. It may also begin new ones, which this request does not wake.
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
