#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <utility>

#include "runnel/core/dialect.h"
#include "runnel/core/run_names.h"
#include "runnel/stream/subscriber.h"

namespace runnel::http {

struct FeedStep {
  enum class Kind {
    frames,     // Send `frames` and ask again.
    live,       // The reader is attached: all further frames come through it; some may have come already.
    ended,      // The terminal frame was sent.
    reconnect,  // Close without one.
  };
  Kind kind = Kind::reconnect;
  stream::Bytes frames;
};

// The source of one SSE answer: first the replay, in pieces, then live. It lives on the connection's core and
// is destroyed there, never from within a call of the reader; destroying it leaves the run's channel.
class EventFeed {
 public:
  EventFeed() = default;
  EventFeed(EventFeed const&) = delete;
  EventFeed& operator=(EventFeed const&) = delete;
  virtual ~EventFeed() = default;

  // `reader` is the same at each call. After `live`, `ended` and `reconnect` it is not called again.
  virtual boost::asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) = 0;

  // The reader is behind: so many bytes of live frames wait for it, or none any more. False: they are more
  // than may be held for its user, and the reader is to be cut.
  [[nodiscard]] virtual bool hold_backlog(std::size_t /*bytes*/) { return true; }

  // The run it shows, and how.
  [[nodiscard]] virtual RunNames const& run() const = 0;
  [[nodiscard]] virtual Dialect dialect() const = 0;
};

// Another feed, with something that is held as long as it is open.
class HoldingFeed : public EventFeed {
 public:
  explicit HoldingFeed(std::unique_ptr<EventFeed> feed) : feed_{std::move(feed)} {}

  boost::asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) override {
    return feed_->next(std::move(reader));
  }
  [[nodiscard]] RunNames const& run() const final { return feed_->run(); }
  [[nodiscard]] Dialect dialect() const final { return feed_->dialect(); }

 private:
  std::unique_ptr<EventFeed> const feed_;
};

}  // namespace runnel::http
