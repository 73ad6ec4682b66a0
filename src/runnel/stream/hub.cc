#include "runnel/stream/hub.h"

#include <algorithm>
#include <utility>

namespace runnel::stream {

namespace {
// How many more channels than the emptiest core a core may have before its new runs go to the emptiest core.
constexpr std::size_t kAhead = 8;
}  // namespace

Hub::Hub(base::Cores& cores, Encoding encoding, std::size_t keep_records, StreamMetrics metrics)
    : cores_{cores}, encoding_{encoding}, keep_records_{keep_records}, metrics_{metrics}, threads_{cores} {
  table_->on_core.resize(cores.size());
}

std::size_t Hub::choose_core() const {
  auto const& counts = table_->on_core;
  auto const least = std::min_element(counts.begin(), counts.end());
  auto const own = cores_.current();
  if (own < counts.size() && counts[own] <= *least + kAhead) return own;
  return static_cast<std::size_t>(least - counts.begin());
}

std::shared_ptr<Channel> Hub::open(RunKey run, RunNames names) {
  std::lock_guard const lock{table_->mutex};
  auto& entry = table_->channels[run];
  if (auto channel = entry.lock()) return channel;

  auto const core = choose_core();
  auto const forget = [table = table_, run, core](Channel* channel) {
    {
      std::lock_guard const inner{table->mutex};
      --table->on_core[core];
      auto const it = table->channels.find(run);
      if (it != table->channels.end() && it->second.expired()) table->channels.erase(it);
    }
    delete channel;
  };
  std::shared_ptr<Channel> channel{
      new Channel{cores_, core, std::move(names), encoding_, keep_records_, metrics_}, forget};
  ++table_->on_core[core];
  entry = channel;
  return channel;
}

}  // namespace runnel::stream
