#include "runnel/stream/hub.h"

#include <utility>

namespace runnel::stream {

Hub::Hub(base::Cores& cores, Encode encode, std::size_t keep_records, StreamMetrics metrics)
    : cores_{cores}, encode_{encode}, keep_records_{keep_records}, metrics_{metrics} {}

std::shared_ptr<Channel> Hub::open(RunKey run, RunNames names) {
  std::lock_guard const lock{table_->mutex};
  auto& entry = table_->channels[run];
  if (auto channel = entry.lock()) return channel;

  auto const forget = [table = table_, run](Channel* channel) {
    {
      std::lock_guard const inner{table->mutex};
      auto const it = table->channels.find(run);
      if (it != table->channels.end() && it->second.expired()) table->channels.erase(it);
    }
    delete channel;
  };
  auto const core = next_core_++ % cores_.size();
  std::shared_ptr<Channel> channel{
      new Channel{cores_, core, std::move(names), encode_, keep_records_, metrics_}, forget};
  entry = channel;
  return channel;
}

}  // namespace runnel::stream
