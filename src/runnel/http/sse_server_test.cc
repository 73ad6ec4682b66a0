#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <atomic>
#include <cstdint>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runnel/http/event_feed.h"
#include "runnel/http/sse_session.h"
#include "runnel/http/test_server.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using stream::Bytes;
using stream::CloseReason;

Bytes bytes(std::string text) {
  return std::make_shared<std::string const>(std::move(text));
}

// What one feed does, and what became of it.
struct Script {
  std::vector<std::string> pieces;
  FeedStep::Kind then = FeedStep::Kind::live;
  bool fails = false;
  std::vector<std::string> early;  // Come through the reader before `live` is returned.
  std::promise<std::shared_ptr<stream::Subscriber>> live;
  std::promise<void> destroyed;
  asio::any_io_executor core;
  std::size_t budget = SIZE_MAX;  // Of the backlog.
  std::atomic<std::size_t> backlog = 0;
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
  [[nodiscard]] RunNames const& run() const override { return run_; }
  [[nodiscard]] Dialect dialect() const override { return Dialect::ag_ui_1_0; }

 private:
  std::shared_ptr<Script> script_;
  RunNames const run_{ThreadId{"t1"}, RunId{"r1"}};
  std::size_t at_ = 0;
};

asio::awaitable<Reply> open_feed(std::shared_ptr<Script> script) {
  co_return std::make_unique<ScriptedFeed>(std::move(script));
}

// A live reader as the channel has it: called on its core.
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
    router.add(Method::get, std::move(path), Access::open,
               [chosen = std::move(chosen)](Request const& /*request*/) { return open_feed(chosen); });
  }
  static void expect_destroyed(Script& ended) {
    EXPECT_EQ(ended.destroyed.get_future().wait_for(10s), std::future_status::ready);
  }

  std::shared_ptr<Script> const script = std::make_shared<Script>();
  std::shared_ptr<Script> const other = std::make_shared<Script>();
};

TEST_F(SseServer, SSE_5_HeadSaysWhatProxiesNeedToKnow) {
  script->then = FeedStep::Kind::ended;
  start();
  TestClient client{port};

  client.send(get("/events", "X-Request-Id: r-1\r\n"));

  auto const head = client.read_head();
  EXPECT_EQ(head.status, 200);
  for (char const* line :
       {"Content-Type: text/event-stream\r\n", "Cache-Control: no-cache\r\n", "X-Accel-Buffering: no\r\n",
        "Transfer-Encoding: chunked\r\n", "X-Request-Id: r-1\r\n"}) {
    EXPECT_TRUE(head.has(line)) << line << head.head;
  }
}

TEST_F(SseServer, ReplayThatEndsIsACompleteBody) {
  script->pieces = {"id: 1-1\n\n", "", "id: 1-2\n\n"};
  script->then = FeedStep::Kind::ended;
  start();
  TestClient client{port};

  client.send(get("/events"));

  client.read_head();
  EXPECT_EQ(client.read_to_end(), "9\r\nid: 1-1\n\n\r\n9\r\nid: 1-2\n\n\r\n0\r\n\r\n");
  expect_destroyed(*script);
}

TEST_F(SseServer, HTTP_7_StreamsAreCountedByDialectAndEnd) {
  options.metrics = &metrics;
  script->pieces = {"id: 1-1\n\n"};
  script->then = FeedStep::Kind::ended;
  start();
  TestClient replayed{port};
  replayed.send(get("/events"));
  replayed.read_to_end();
  expect_destroyed(*script);
  EXPECT_NE(metrics.text().find("\nrunnel_sse_sent_bytes_total 9\n"), std::string::npos);
  TestClient live{port};
  live.send(get("/other"));
  Reader reader{other};
  live.read_head();
  EXPECT_NE(metrics.text().find("\nrunnel_sse_streams 1\n"), std::string::npos);
  live.close();
  expect_destroyed(*other);

  auto const text = metrics.text();
  for (char const* line : {"runnel_sse_streams_opened_total{dialect=\"ag-ui-1.0\"} 2",
                           "runnel_sse_streams_closed_total{reason=\"ended\"} 1",
                           "runnel_sse_streams_closed_total{reason=\"gone\"} 1", "runnel_sse_streams 0"}) {
    EXPECT_NE(text.find(std::string{"\n"} + line + "\n"), std::string::npos) << line;
  }
}

TEST_F(SseServer, ReplayThatIsCutLacksTheLastChunk) {
  script->pieces = {"id: 1-1\n\n"};
  script->then = FeedStep::Kind::reconnect;
  start();
  TestClient client{port};

  client.send(get("/events"));

  client.read_head();
  EXPECT_EQ(client.read_to_end(), "9\r\nid: 1-1\n\n\r\n");
}

TEST_F(SseServer, FeedThatFailsCutsTheStream) {
  script->pieces = {"id: 1-1\n\n"};
  script->fails = true;
  start();
  TestClient client{port};
  testing::internal::CaptureStderr();

  client.send(get("/events"));
  client.read_head();
  EXPECT_EQ(client.read_to_end(), "9\r\nid: 1-1\n\n\r\n");
  expect_destroyed(*script);

  EXPECT_NE(testing::internal::GetCapturedStderr().find("the feed fails"), std::string::npos);
}

TEST_F(SseServer, LargeReplayArrivesWhole) {
  script->pieces = {std::string(2'000'000, 'x')};
  script->then = FeedStep::Kind::ended;
  start();
  TestClient client{port, {.receive_buffer_bytes = 8192}};

  client.send(get("/events"));

  client.read_head();
  EXPECT_EQ(client.read_to_end().size(), 2'000'000u + std::string{"1e8480\r\n\r\n0\r\n\r\n"}.size());
}

TEST_F(SseServer, LiveFramesFollowTheReplayAndTheEarlyOnes) {
  script->pieces = {"old\n\n"};
  script->early = {"early\n\n"};
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};

  reader.frames("live\n\n");
  reader.close(CloseReason::ended);

  client.read_head();
  EXPECT_EQ(client.read_to_end(), "5\r\nold\n\n\r\n7\r\nearly\n\n\r\n6\r\nlive\n\n\r\n0\r\n\r\n");
  expect_destroyed(*script);
}

TEST_F(SseServer, LiveStreamThatIsCutLacksTheLastChunk) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};

  reader.frames("live\n\n");
  reader.close(CloseReason::reconnect);

  client.read_head();
  EXPECT_EQ(client.read_to_end(), "6\r\nlive\n\n\r\n");
  expect_destroyed(*script);
}

TEST_F(SseServer, FramesThatWaitLeaveInOneChunk) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  client.read_head();
  std::string const block(60'000, 'x');

  // More than the kernel takes at once, so that the later ones wait for it; many small ones, so that they
  // need several gathering writes.
  for (int i = 0; i < 4; ++i)
    reader.frames(block);
  for (int i = 0; i < 200; ++i)
    reader.frames("y");
  reader.close(CloseReason::ended);

  auto const text = client.read_to_end();
  EXPECT_TRUE(text.ends_with("\r\n0\r\n\r\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), 'x'), 240'000);
  EXPECT_EQ(std::count(text.begin(), text.end(), 'y'), 200);
}

TEST_F(SseServer, Http10StreamEndsWithItsConnection) {
  script->pieces = {"old\n\n"};
  start();
  TestClient client{port};
  client.send("GET /events HTTP/1.0\r\n\r\n");
  Reader reader{script};

  reader.frames("live\n\n");
  reader.close(CloseReason::ended);

  EXPECT_FALSE(client.read_head().has("Transfer-Encoding"));
  EXPECT_EQ(client.read_to_end(), "old\n\nlive\n\n");
}

TEST_F(SseServer, SSE_5_IdleStreamCarriesKeepAlives) {
  limits.keep_alive = 20ms;
  start();
  TestClient client{port};

  client.send(get("/events"));

  client.read_head();
  EXPECT_EQ(client.read_until("\n\n\r\n"), "e\r\n: keep-alive\n\n\r\n");
  EXPECT_EQ(client.read_until("\n\n\r\n"), "e\r\n: keep-alive\n\n\r\n");
}

TEST_F(SseServer, SSE_6_SlowReaderIsCutAndOthersAreNot) {
  limits.subscriber_buffer_bytes = 64 * 1024;
  limits.send_buffer_bytes = 4096;
  start();
  TestClient slow{port, {.receive_buffer_bytes = 4096}};
  slow.send(get("/events"));
  Reader slow_reader{script};
  TestClient quick{port};
  quick.send(get("/other"));
  Reader quick_reader{other};
  quick.read_head();

  for (int i = 0; i < 100; ++i) {
    slow_reader.frames(std::string(8192, 'x'));
    quick_reader.frames("q\n\n");
  }
  expect_destroyed(*script);
  quick_reader.close(CloseReason::ended);

  EXPECT_LT(slow.read_to_end().size(), 400'000u);
  auto const text = quick.read_to_end();
  EXPECT_EQ(std::count(text.begin(), text.end(), 'q'), 100);
}

TEST_F(SseServer, SSE_6_WriteThatTakesTooLongIsCut) {
  limits.write_timeout = 30ms;
  limits.send_buffer_bytes = 4096;
  start();
  TestClient client{port, {.receive_buffer_bytes = 4096}};
  client.send(get("/events"));
  Reader reader{script};

  reader.frames(std::string(250'000, 'x'));

  expect_destroyed(*script);
}

TEST_F(SseServer, OverflowBeforeTheStreamIsLiveCutsItToo) {
  script->early = {std::string(300'000, 'x'), "more"};
  start();
  TestClient client{port};

  client.send(get("/events"));

  expect_destroyed(*script);
  client.read_head();
  EXPECT_EQ(client.read_to_end(), "");
}

TEST_F(SseServer, SSE_6_SingleBatchLargerThanTheBufferIsDelivered) {
  script->early = {std::string(300'000, 'x')};
  start();
  TestClient client{port};

  client.send(get("/events"));
  Reader reader{script};
  reader.close(CloseReason::ended);

  client.read_head();
  EXPECT_GT(client.read_to_end().size(), 300'000U);
}

TEST_F(SseServer, PeerThatLeavesFreesItsFeedAtOnce) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};

  client.close();

  expect_destroyed(*script);
  reader.frames("late\n\n");
  reader.close(CloseReason::ended);
}

TEST_F(SseServer, PeerThatHasReadAllAndLeavesIsNoticedToo) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  client.read_head();

  client.close();

  expect_destroyed(*script);
}

TEST_F(SseServer, ReaderThatHalfClosesStillGetsItsStream) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  client.read_head();

  client.half_close();

  EXPECT_EQ(client.read_until("\n\n\r\n"), "e\r\n: keep-alive\n\n\r\n");
  reader.frames("live\n\n");
  reader.close(CloseReason::ended);
  EXPECT_EQ(client.read_to_end(), "6\r\nlive\n\n\r\n0\r\n\r\n");
}

TEST_F(SseServer, StrayBytesOfTheClientAreIgnored) {
  start();
  TestClient client{port};
  client.send(get("/events") + get("/events"));
  Reader reader{script};
  client.send("more");

  reader.frames("live\n\n");
  reader.close(CloseReason::ended);

  client.read_head();
  EXPECT_EQ(client.read_to_end(), "6\r\nlive\n\n\r\n0\r\n\r\n");
}

TEST_F(SseServer, NODE_3_ClosedStreamsAreCutAndOtherAnswersGoOn) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  reader.frames("live\n\n");
  TestClient late{port};
  late.ask(get("/nowhere"));

  server->close_streams();

  client.read_head();
  EXPECT_EQ(client.read_to_end(), "6\r\nlive\n\n\r\n");
  expect_destroyed(*script);
  late.send(get("/other"));
  EXPECT_EQ(late.read_head().status, 200);
  EXPECT_EQ(late.read_to_end(), "");
}

TEST_F(SseServer, StopReturnsWhenEveryFeedIsGone) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};

  server->stop();

  EXPECT_EQ(script->destroyed.get_future().wait_for(0s), std::future_status::ready);
  client.read_head();
  EXPECT_EQ(client.read_to_end(), "");
  reader.frames("late\n\n");
}

TEST_F(SseServer, HeadOfAStreamHasNoBody) {
  start();
  TestClient client{port};

  client.send("HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n");

  EXPECT_TRUE(client.read_to_end().ends_with("\r\n\r\n"));
  expect_destroyed(*script);
}

// An idle subscriber may cost 2.5 KiB in all (bench/README.md).
TEST(SseSession, IsSmall) {
  EXPECT_LE(sizeof(SseSession), 320u);
}

TEST_F(SseServer, HTTP_3_StreamEndsWithItsToken) {
  router.add(Method::get, "/mine", Access::user,
             [this](Request const& /*request*/) { return open_feed(script); });
  start();
  TestClient client{port};
  auto const token = authenticator->issue_token(UserId{"demo"}, 2s);

  client.send(get("/mine", "Authorization: Bearer " + token + "\r\n"));
  client.read_head();
  Reader reader{script};
  reader.frames("first\n\n");

  auto const rest = client.read_to_end();
  EXPECT_NE(rest.find("first"), std::string::npos);
  EXPECT_NE(rest.find(": the token of this stream has expired\nretry: 500\n\n"), std::string::npos);
  EXPECT_FALSE(rest.ends_with("0\r\n\r\n"));  // Cut, not ended: the client resumes.
  expect_destroyed(*script);
}

TEST_F(SseServer, HTTP_9_SlowReaderIsCutWhereItsUsersBudgetIsUsedUp) {
  limits.subscriber_buffer_bytes = 100'000'000;
  limits.send_buffer_bytes = 16'384;
  script->budget = 500'000;
  start();
  TestClient client{port, {.receive_buffer_bytes = 4096}};
  client.send(get("/events"));
  client.read_head();
  Reader reader{script};

  for (int i = 0; i < 100; ++i)
    reader.frames(std::string(20'000, 'x'));

  expect_destroyed(*script);
  EXPECT_LT(script->backlog, 600'000U) << "it was noticed late";
}

TEST_F(SseServer, HTTP_9_ReaderThatCatchesUpGivesItsBytesBack) {
  limits.subscriber_buffer_bytes = 100'000'000;
  limits.send_buffer_bytes = 16'384;
  start();
  TestClient client{port, {.receive_buffer_bytes = 4096}};
  client.send(get("/events"));
  client.read_head();
  Reader reader{script};
  for (int i = 0; i < 100; ++i)
    reader.frames(std::string(20'000, 'x'));
  while (script->backlog < 1'000'000)
    std::this_thread::sleep_for(1ms);

  reader.close(CloseReason::ended);
  client.read_to_end();

  expect_destroyed(*script);
  EXPECT_EQ(script->backlog, 0U);
}

}  // namespace
}  // namespace runnel::http
