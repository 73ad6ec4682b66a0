#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "runnel/api/handler.h"
#include "runnel/core/fact/run_names.h"
#include "runnel/core/fact/wire.h"
#include "runnel/stream/subscriber.h"

namespace runnel::http {

struct FeedStep {
  enum class Kind {
    frames,     // Send `frames` and ask again.
    live,       // The reader is attached: all further frames go to it; some may have come already.
    ended,      // The terminal frame was sent.
    reconnect,  // Close without a terminal frame.
  };
  Kind kind = Kind::reconnect;
  stream::SharedFrames frames;
};

// The source of one SSE answer or of the messages on a WebSocket: first the replay, in pieces, then live
// frames. It lives on the connection's core and is destroyed there, but never from within a call to the
// reader. Destroying it detaches it from the run's channel.
class EventFeed : public api::EventStream {
 public:
  // `reader` is the same at each call. This is not called again after `ended` or `reconnect`, nor after
  // `live` unless the feed continues.
  virtual boost::asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) = 0;

  // Call this when a reader is behind: `bytes` of live frames wait for it, or 0 if it has caught up. False if
  // they are more than may be held for its user; then the reader must be cut.
  [[nodiscard]] virtual bool hold_backlog(std::size_t /*bytes*/) { return true; }

  // Whether more may follow when the reader is told, after `live`, that the run has ended: then call next()
  // again, which says what follows (RUN-15).
  [[nodiscard]] virtual bool continues() const { return false; }

  // For a WebSocket, the value of Sec-WebSocket-Accept. Empty for an SSE stream.
  [[nodiscard]] virtual std::string_view web_socket_accept() const { return {}; }

  // The run that it shows (the current one, if it shows several), and the wire in which it shows it.
  [[nodiscard]] virtual RunNames const& run() const = 0;
  [[nodiscard]] virtual Wire wire() const = 0;
};

// The feed in a reply that is a stream. Every stream of this server is an EventFeed.
inline std::unique_ptr<EventFeed> take_feed(std::unique_ptr<api::EventStream> stream) {
  return std::unique_ptr<EventFeed>{static_cast<EventFeed*>(stream.release())};
}

// Wraps another feed, and holds something while that feed is open.
class HoldingFeed : public EventFeed {
 public:
  explicit HoldingFeed(std::unique_ptr<EventFeed> feed) : feed_{std::move(feed)} {}

  boost::asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) override {
    return feed_->next(std::move(reader));
  }
  [[nodiscard]] bool continues() const override { return feed_->continues(); }
  [[nodiscard]] std::string_view web_socket_accept() const override { return feed_->web_socket_accept(); }
  [[nodiscard]] RunNames const& run() const final { return feed_->run(); }
  [[nodiscard]] Wire wire() const final { return feed_->wire(); }

 private:
  std::unique_ptr<EventFeed> const feed_;
};

}  // namespace runnel::http
