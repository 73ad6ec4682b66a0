#pragma once

#include "runnel/http/routes/event_feed.h"

namespace runnel::http {

// For tests: a stream of a run without a name, which closes at once.
class EmptyFeed final : public EventFeed {
 public:
  boost::asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> /*reader*/) override {
    co_return FeedStep{};
  }
  [[nodiscard]] RunNames const& run() const override { return run_; }
  [[nodiscard]] Wire wire() const override { return Wire{}; }

 private:
  RunNames run_;
};

}  // namespace runnel::http
