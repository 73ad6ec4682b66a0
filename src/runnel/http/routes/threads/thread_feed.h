#pragma once

#include <memory>

#include "runnel/http/routes/run_feed.h"
#include "runnel/http/routes/threads/thread_start.h"
#include "runnel/stream/thread_watch.h"

namespace runnel::http {

// A thread's runs in the order in which they began, each from its first event to its last, on one stream that
// stays open between them (RUN-15). Each run is read by a RunFeed; between two runs the reader waits to be
// told that one has begun.
class ThreadFeed final : public EventFeed {
 public:
  ThreadFeed(FeedParts parts, store::Sql& sql, UserId reader, store::ThreadRow const& thread,
             ThreadPlace place, Wire wire);

  boost::asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) override;

  [[nodiscard]] bool continues() const override { return true; }
  [[nodiscard]] RunNames const& run() const override { return names_; }
  [[nodiscard]] Wire wire() const override { return wire_; }

 private:
  // Opens the next run that can be read. False if no further one has begun.
  store::Async<bool> open_next();
  // False if the run cannot be read: it is passed over like one that has expired.
  store::Async<bool> open(store::RunRow run);
  // For a run with events before it that are not kept: its first event, and behind it what was lost. Fails
  // with `not_found` if the run cannot be read.
  store::Async<Position> tell_expired(RunKey run);
  store::Async<void> check_thread();
  [[nodiscard]] FeedStep sent(FeedStep step);

  FeedParts const parts_;
  store::ThreadRuns runs_;
  UserId const user_;
  ThreadKey const thread_;
  Wire const wire_;
  std::shared_ptr<stream::ThreadWatch> const watch_;
  RunNames names_;  // The run is the one that is being read.
  ThreadPlace place_;
  std::unique_ptr<RunFeed> run_;  // Null between two runs.
  bool live_ = false;             // The reader is attached to the run; it is told when the run has ended.
  bool has_begun_ = false;        // Events of the run were sent.
  stream::SharedFrames ahead_;    // To be sent before anything else.
};

}  // namespace runnel::http
