#include "runnel/stream/thread_watch.h"

#include <boost/asio/post.hpp>

#include <utility>

namespace runnel::stream {

std::shared_ptr<ThreadWatch> ThreadWatches::watch(ThreadKey thread) {
  auto const forget = [table = table_, thread](ThreadWatch* watch) {
    {
      std::lock_guard const lock{table->mutex};
      auto const found = table->threads.find(thread);
      if (found != table->threads.end()) {
        std::erase_if(found->second, [](Place const& place) { return place.watch.expired(); });
        if (found->second.empty()) table->threads.erase(found);
      }
    }
    delete watch;
  };
  std::shared_ptr<ThreadWatch> watch{new ThreadWatch, forget};
  std::lock_guard const lock{table_->mutex};
  table_->threads[thread].push_back({cores_.current(), watch});
  return watch;
}

// Posted, so that a watch is touched by its own core only, and lives until the call has been made.
void ThreadWatches::tell(ThreadKey thread) {
  std::lock_guard const lock{table_->mutex};
  auto const found = table_->threads.find(thread);
  if (found == table_->threads.end()) return;
  for (auto const& place : found->second) {
    boost::asio::post(cores_.at(place.core), [watch = place.watch] {
      if (auto const alive = watch.lock()) alive->tell();
    });
  }
}

}  // namespace runnel::stream
