#include "runnel/tools/program_slots.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>

#include "runnel/base/event.h"

namespace runnel::tools {

namespace asio = boost::asio;

// One call that waits. `granted` is guarded by the mutex; the event belongs to the core of the call.
struct ProgramSlots::Waiter {
  explicit Waiter(asio::any_io_executor const& core) : executor{core}, changed{core} {}

  asio::any_io_executor executor;
  base::Event changed;
  bool granted = false;
  bool woken = false;  // Only its own core uses it.
};

// Whether the caller has a slot at once. Otherwise it waits from here on.
bool ProgramSlots::enter(std::string const& user, std::shared_ptr<Waiter> const& waiter) {
  std::lock_guard const lock{mutex_};
  auto& share = shares_[user];
  bool const is_free = share.taken < limits_.per_user && taken_ < limits_.total;
  if (is_free) {
    ++share.taken;
    ++taken_;
  } else {
    share.waiting.push_back(waiter);
  }
  return is_free;
}

// Ends the wait. Returns whether the waiter has got a slot meanwhile.
bool ProgramSlots::leave(std::string const& user, Waiter const& waiter) {
  std::lock_guard const lock{mutex_};
  if (waiter.granted) return true;
  auto& waiting = shares_[user].waiting;
  waiting.erase(std::find_if(waiting.begin(), waiting.end(),
                             [&](auto const& other) { return other.get() == &waiter; }));
  forget_if_idle(user);
  return false;
}

void ProgramSlots::release(std::string const& user) {
  std::shared_ptr<Waiter> woken;
  {
    std::lock_guard const lock{mutex_};
    --shares_[user].taken;
    --taken_;
    woken = next();
    forget_if_idle(user);
  }
  if (woken == nullptr) return;
  auto const executor = woken->executor;
  asio::post(executor, [woken = std::move(woken)] {
    woken->woken = true;
    woken->changed.notify_all();
  });
}

// Gives a slot to the first waiter of the next user, in the order of their names, who may have one more.
std::shared_ptr<ProgramSlots::Waiter> ProgramSlots::next() {
  if (taken_ >= limits_.total) return nullptr;
  auto at = shares_.upper_bound(last_);
  for (std::size_t i = 0; i < shares_.size(); ++i, ++at) {
    if (at == shares_.end()) at = shares_.begin();
    auto& [user, share] = *at;
    if (share.waiting.empty() || share.taken >= limits_.per_user) continue;
    auto waiter = std::move(share.waiting.front());
    share.waiting.pop_front();
    waiter->granted = true;
    ++share.taken;
    ++taken_;
    last_ = user;
    return waiter;
  }
  return nullptr;
}

void ProgramSlots::forget_if_idle(std::string const& user) {
  auto const found = shares_.find(user);
  if (found != shares_.end() && found->second.taken == 0 && found->second.waiting.empty())
    shares_.erase(found);
}

asio::awaitable<Result<ProgramSlots::Slot>> ProgramSlots::take(UserId user,
                                                               std::shared_ptr<base::Cancel> cancel) {
  if (cancel->requested()) co_return Error{Errc::canceled, "canceled before the program was started"};
  auto const waiter = std::make_shared<Waiter>(co_await asio::this_coro::executor);
  if (enter(user.text, waiter)) co_return Slot{*this, user.text};
  {
    auto& waiting = *waiter;
    base::Cancel::Registration const wake{*cancel, [&waiting] { waiting.changed.notify_all(); }};
    while (!waiter->woken && !cancel->requested())
      co_await waiter->changed.wait();
  }
  bool const granted = leave(user.text, *waiter);
  if (granted && !cancel->requested()) co_return Slot{*this, user.text};
  if (granted) release(user.text);
  co_return Error{Errc::canceled, "canceled before the program was started"};
}

}  // namespace runnel::tools
