#include "runnel/app/shared_probe.h"

#include <exception>
#include <iterator>
#include <utility>

namespace runnel::app {

SharedProbe::SharedProbe(Probe probe, base::Clock const& clock, std::chrono::milliseconds keep)
    : probe_{std::move(probe)}, clock_{clock}, keep_{keep} {}

// If the clock has been set back, the last outcome is not fresh.
bool SharedProbe::is_fresh() const {
  auto const age = clock_.now_ms() - last_at_;
  return last_ && age >= 0 && age < keep_.count();
}

SharedProbe::Turn SharedProbe::take_turn() {
  std::lock_guard const lock{mutex_};
  if (is_fresh()) return Turn::known;
  return std::exchange(probing_, true) ? Turn::wait : Turn::probe;
}

// The outcome may have arrived since the turn was taken.
void SharedProbe::join(Reply reply) {
  std::unique_lock lock{mutex_};
  if (probing_) {
    waiting_.push_back(std::move(reply));
    return;
  }
  reply->set(*last_);
  lock.unlock();
  base::resume_one(std::move(reply));
}

void SharedProbe::settle(Result<void> const& outcome) {
  std::vector<Reply> waiting;
  {
    std::lock_guard const lock{mutex_};
    last_ = outcome;
    last_at_ = clock_.now_ms();
    probing_ = false;
    waiting.swap(waiting_);
  }
  for (auto& reply : waiting)
    reply->set(outcome);
  base::resume_all({std::make_move_iterator(waiting.begin()), std::make_move_iterator(waiting.end())});
}

store::Async<void> SharedProbe::ask() {
  auto const turn = take_turn();
  if (turn != Turn::probe) {
    // This is also the way for a known outcome, because it must be read under the lock.
    co_return co_await base::wait_for_reply<void>([this](Reply reply) { join(std::move(reply)); });
  }
  Result<void> outcome = Error{Errc::internal, "the probe threw an unknown exception"};
  try {
    outcome = co_await probe_();
  } catch (std::exception const& error) {
    outcome = Error{Errc::internal, error.what()};
  } catch (...) {  // `outcome` says it.
  }
  settle(outcome);
  co_return outcome;
}

}  // namespace runnel::app
