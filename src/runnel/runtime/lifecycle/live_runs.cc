#include "runnel/runtime/lifecycle/live_runs.h"

#include <boost/asio/post.hpp>

namespace runnel::runtime {
namespace {
// Longer than any admission takes. Most early cancels are for runs that have just ended.
constexpr std::chrono::seconds kEarlyKept{60};

void request(LiveRun const& live, base::CancelReason reason) {
  boost::asio::post(live.channel->context(), [cancel = live.cancel, reason] { cancel->request(reason); });
}
}  // namespace

void LiveRuns::add(RunKey run, LiveRun live) {
  std::lock_guard const lock{mutex_};
  auto const [place, is_new] = runs_.insert_or_assign(run, std::move(live));
  if (is_new) active_.add();
  auto const early = early_.find(run);
  if (early == early_.end()) return;
  request(place->second, early->second.reason);
  early_.erase(early);
}

void LiveRuns::remove(RunKey run, std::shared_ptr<base::Cancel> const& cancel) {
  std::lock_guard const lock{mutex_};
  auto const it = runs_.find(run);
  if (it == runs_.end() || it->second.cancel != cancel) return;
  runs_.erase(it);
  active_.subtract();
  if (runs_.empty()) idle_.notify_all();
}

void LiveRuns::cancel(RunKey run, base::CancelReason reason) {
  std::lock_guard const lock{mutex_};
  auto const it = runs_.find(run);
  if (it != runs_.end()) return request(it->second, reason);
  auto const now = std::chrono::steady_clock::now();
  std::erase_if(early_, [now](auto const& entry) { return now - entry.second.asked > kEarlyKept; });
  early_.insert_or_assign(run, Early{reason, now});
}

void LiveRuns::cancel_all(base::CancelReason reason) {
  std::lock_guard const lock{mutex_};
  for (auto const& [run, live] : runs_)
    request(live, reason);
}

std::size_t LiveRuns::size() const {
  std::lock_guard const lock{mutex_};
  return runs_.size();
}

bool LiveRuns::has(RunKey run) const {
  std::lock_guard const lock{mutex_};
  return runs_.contains(run);
}

bool LiveRuns::wait_until_idle(std::chrono::milliseconds limit) {
  std::unique_lock lock{mutex_};
  return idle_.wait_for(lock, limit, [this] { return runs_.empty(); });
}

}  // namespace runnel::runtime
