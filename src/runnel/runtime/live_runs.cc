#include "runnel/runtime/live_runs.h"

#include <boost/asio/post.hpp>

namespace runnel::runtime {
namespace {
void request(LiveRun const& live, base::CancelReason reason) {
  boost::asio::post(live.channel->context(), [cancel = live.cancel, reason] { cancel->request(reason); });
}
}  // namespace

void LiveRuns::add(RunKey run, LiveRun live) {
  std::lock_guard const lock{mutex_};
  if (runs_.insert_or_assign(run, std::move(live)).second) active_.add();
}

void LiveRuns::remove(RunKey run) {
  std::lock_guard const lock{mutex_};
  active_.subtract(static_cast<std::int64_t>(runs_.erase(run)));
  if (runs_.empty()) idle_.notify_all();
}

bool LiveRuns::cancel(RunKey run, base::CancelReason reason) {
  std::lock_guard const lock{mutex_};
  auto const it = runs_.find(run);
  if (it == runs_.end()) return false;
  request(it->second, reason);
  return true;
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

bool LiveRuns::wait_until_idle(std::chrono::milliseconds limit) {
  std::unique_lock lock{mutex_};
  return idle_.wait_for(lock, limit, [this] { return runs_.empty(); });
}

}  // namespace runnel::runtime
