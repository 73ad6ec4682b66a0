#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runnel/http/connection/stream/stream_session.h"
#include "runnel/http/routes/event_feed.h"
#include "runnel/http/testing/test_server.h"
#include "runnel/protocol/wires.h"

// A server whose route /events streams what a test wrote into a script.
namespace runnel::http {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using stream::CloseReason;
using stream::SharedFrames;

inline SharedFrames bytes(std::string text) {
  return stream::share({std::move(text), {}});
}

// What one feed does, and what happened to it.
struct Script {
  std::vector<std::string> pieces;
  FeedStep::Kind then = FeedStep::Kind::live;
  bool fails = false;
  std::vector<std::string> early;  // Given to the reader before `live` is returned.
  std::promise<std::shared_ptr<stream::Subscriber>> live;
  std::promise<void> destroyed;
  asio::any_io_executor core;
  std::size_t budget = SIZE_MAX;  // For the backlog.
  std::atomic<std::size_t> backlog = 0;
  std::string accept;  // If it is set, the stream is a WebSocket.
  // For a feed that continues: what it says when the run that was live has ended. Empty if it throws.
  bool continues = false;
  std::vector<FeedStep> later{};
};

class ScriptedFeed final : public EventFeed {
 public:
  explicit ScriptedFeed(std::shared_ptr<Script> script) : script_{std::move(script)} {}
  ScriptedFeed(ScriptedFeed const&) = delete;
  ScriptedFeed& operator=(ScriptedFeed const&) = delete;
  ~ScriptedFeed() override { script_->destroyed.set_value(); }

  asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> reader) override {
    if (at_ < script_->pieces.size())
      co_return FeedStep{FeedStep::Kind::frames, bytes(script_->pieces[at_++])};
    if (std::exchange(was_live_, script_->then == FeedStep::Kind::live)) {
      if (script_->later.empty()) throw std::runtime_error("the feed fails later");
      auto step = script_->later.front();
      script_->later.erase(script_->later.begin());
      co_return step;
    }
    if (script_->fails) throw std::runtime_error("the feed fails");
    if (script_->then == FeedStep::Kind::live) {
      script_->core = co_await asio::this_coro::executor;
      for (auto const& frames : script_->early)
        reader->on_frames(bytes(frames));
      script_->live.set_value(reader);
    }
    co_return FeedStep{script_->then, nullptr};
  }

  [[nodiscard]] bool hold_backlog(std::size_t size) override {
    script_->backlog = size;
    return size <= script_->budget;
  }
  [[nodiscard]] std::string_view web_socket_accept() const override { return script_->accept; }
  [[nodiscard]] bool continues() const override { return script_->continues; }
  [[nodiscard]] RunNames const& run() const override { return run_; }
  [[nodiscard]] Wire wire() const override { return protocol::find_wire("ag-ui", "1.0").value(); }

 private:
  std::shared_ptr<Script> script_;
  RunNames const run_{ThreadId{"t1"}, RunId{"r1"}};
  std::size_t at_ = 0;
  bool was_live_ = false;
};

inline asio::awaitable<api::Reply> open_feed(std::shared_ptr<Script> script) {
  co_return std::make_unique<ScriptedFeed>(std::move(script));
}

// A live reader as the channel sees it: it is called on its core.
class Reader {
 public:
  explicit Reader(std::shared_ptr<Script> script) : script_{std::move(script)} {
    auto live = script_->live.get_future();
    if (live.wait_for(10s) != std::future_status::ready) throw std::runtime_error("not live after 10 s");
    subscriber_ = live.get();
  }
  void frames(std::string text) {
    asio::post(script_->core, [to = subscriber_, text = std::move(text)] { to->on_frames(bytes(text)); });
  }
  void close(CloseReason reason) {
    asio::post(script_->core, [to = subscriber_, reason] { to->on_close(reason); });
  }

 private:
  std::shared_ptr<Script> script_;
  std::shared_ptr<stream::Subscriber> subscriber_;
};

class SseServer : public TestServer {
 protected:
  SseServer() {
    add("/events", script);
    add("/other", other);
  }
  void add(std::string path, std::shared_ptr<Script> chosen) {
    router.add(api::Method::get, std::move(path), api::Access::open,
               [chosen = std::move(chosen)](api::Request const& /*request*/) { return open_feed(chosen); });
  }
  static void expect_destroyed(Script& ended) {
    EXPECT_EQ(ended.destroyed.get_future().wait_for(10s), std::future_status::ready);
  }

  std::shared_ptr<Script> const script = std::make_shared<Script>();
  std::shared_ptr<Script> const other = std::make_shared<Script>();
};

}  // namespace runnel::http
