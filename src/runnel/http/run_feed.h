#pragma once

#include <memory>

#include "runnel/base/fair_pool.h"
#include "runnel/core/dialect.h"
#include "runnel/http/event_feed.h"
#include "runnel/store/store.h"
#include "runnel/stream/hub.h"

namespace runnel::http {

// What every stream of runs needs. All outlive the server.
struct FeedParts {
  store::Store& store;
  stream::Hub& hub;
  base::Cores& cores;
  stream::Encode encode;
  base::FairPool& replaying;  // Where stored events become frames; keys are users.
};

class RunFeed : public EventFeed {
 public:
  // Reads the first page where the whole run is in the store, so that what is wrong can still be said with a
  // status: `not_found` where the log has expired meanwhile or cannot be read.
  virtual store::Async<void> read_ahead() = 0;
};

// A run's events from `after` on: live from its channel where that still has them, else first from the store.
// No gap and no repetition between the two, because the channel gives the place where it goes on. `run` needs
// its key, names, status and last_n.
std::unique_ptr<RunFeed> make_run_feed(FeedParts parts, UserId reader, store::RunRow const& run,
                                       Position after, Dialect dialect);

}  // namespace runnel::http
