#pragma once

#include "runnel/http/event_feed.h"

namespace runnel::http {

// For tests: a stream of a nameless run, which closes at once.
class EmptyFeed final : public EventFeed {
 public:
  boost::asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> /*reader*/) override {
    co_return FeedStep{};
  }
  [[nodiscard]] RunNames const& run() const override { return run_; }
  [[nodiscard]] Dialect dialect() const override { return Dialect::v2; }

 private:
  RunNames run_;
};

}  // namespace runnel::http
