#pragma once

#include <memory>
#include <vector>

#include "runnel/base/fair_pool.h"
#include "runnel/core/fact/wire.h"
#include "runnel/http/routes/event_feed.h"
#include "runnel/store/store.h"
#include "runnel/stream/hub.h"

namespace runnel::http {

// What every stream of a run needs. All of it outlives the server.
struct FeedParts {
  store::Store& store;
  stream::Hub& hub;
  base::Cores& cores;
  base::FairPool& replaying;  // Turns stored events into frames; its keys are users.
};

// A run's events after the position `after`: live from the run's channel if it still has them, otherwise
// first from the store. There is no gap and no repetition between the two, because the channel continues
// right after the position up to which the store was read.
class RunFeed final : public EventFeed {
 public:
  // When the stream is complete.
  enum class Until {
    end,    // With the run's terminal event.
    pause,  // Also when the run pauses: for AG-UI, that is the end of the client's run (AGUI-4).
  };

  // `run` needs its key, names and status.
  RunFeed(FeedParts parts, UserId reader, store::RunRow const& run, Position after, Wire wire,
          Until until = Until::end);
  ~RunFeed() override;

  // Reads the first page if the whole run is in the store, so that an error can still be answered with a
  // status. Fails with `not_found` if the log has expired or cannot be read.
  store::Async<void> read_ahead();

  boost::asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) override;

  [[nodiscard]] RunNames const& run() const override { return names_; }
  [[nodiscard]] Wire wire() const override { return wire_; }

  // After `reconnect`: the rest of the run will never be read, because its log has expired or is damaged.
  [[nodiscard]] bool is_unreadable() const { return unreadable_; }

 private:
  [[nodiscard]] stream::Channel::Attach make_attach(std::shared_ptr<stream::Subscriber> reader) const;
  boost::asio::awaitable<Result<stream::SharedFrames>> read_page();
  boost::asio::awaitable<Result<stream::Frames>> encode(std::vector<store::LogRow> const* rows);
  Result<stream::Frames> encode_rows(std::vector<store::LogRow> const& rows);
  boost::asio::awaitable<Result<stream::SharedFrames>> look_again();
  store::Async<store::RunRow> find_run();

  FeedParts const parts_;
  UserId const user_;
  RunKey const run_;
  RunNames const names_;
  Position after_;
  Wire const wire_;
  Until const until_;
  bool ended_;           // The whole run is in the store.
  bool looked_ = false;  // The store has nothing after `after_`, and the run continues: wait for its writer.
  bool complete_ = false;  // The terminal event has been read.
  bool unreadable_ = false;
  stream::SharedFrames ahead_;  // Read, but not yet returned.
  std::shared_ptr<stream::Channel> channel_;
  stream::ReaderId reader_ = 0;
};

}  // namespace runnel::http
