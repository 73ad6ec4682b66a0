#include "runnel/http/testing/sse_server_case.h"

namespace runnel::http {
namespace {

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
  EXPECT_EQ(client.read_stream(), "9\r\nid: 1-1\n\n\r\n9\r\nid: 1-2\n\n\r\n0\r\n\r\n");
  expect_destroyed(*script);
}

TEST_F(SseServer, SSE_2_ConnectionCarriesAnotherRequestWhenAReplayHasEnded) {
  script->then = other->then = FeedStep::Kind::ended;
  script->pieces = other->pieces = {"a\n\n"};
  start();
  TestClient client{port};

  for (auto const* const path : {"/events", "/other"}) {
    client.send(get(path));
    EXPECT_EQ(client.read_head().status, 200);
    EXPECT_EQ(client.read_stream(), "3\r\na\n\n\r\n0\r\n\r\n");
  }
}

TEST_F(SseServer, SSE_2_ConnectionCarriesAnotherRequestWhenALiveStreamHasEnded) {
  other->then = FeedStep::Kind::ended;
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  client.read_head();
  reader.frames("a\n\n");
  reader.close(CloseReason::ended);
  EXPECT_EQ(client.read_stream(), "3\r\na\n\n\r\n0\r\n\r\n");
  expect_destroyed(*script);

  client.send(get("/other"));

  EXPECT_EQ(client.read_head().status, 200);
}

TEST_F(SseServer, RUN_15_FeedThatContinuesSaysWhatFollowsARun) {
  script->continues = true;
  script->later = {{FeedStep::Kind::frames, bytes("b\n\n")}, {FeedStep::Kind::ended, nullptr}};
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  client.read_head();
  reader.frames("a\n\n");
  reader.close(CloseReason::ended);

  EXPECT_EQ(client.read_stream(), "3\r\na\n\n\r\n3\r\nb\n\n\r\n0\r\n\r\n");
  expect_destroyed(*script);
}

TEST_F(SseServer, RUN_15_FeedThatFailsBetweenTwoRunsCutsItsOwnStreamOnly) {
  script->continues = true;
  other->then = FeedStep::Kind::ended;
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  client.read_head();
  reader.frames("a\n\n");
  reader.close(CloseReason::ended);

  EXPECT_EQ(client.read_stream(), "3\r\na\n\n\r\n") << "no last chunk: the client must come back";
  expect_destroyed(*script);
  TestClient next{port};
  next.send(get("/other"));
  EXPECT_EQ(next.read_head().status, 200);
}

TEST_F(SseServer, ConnectionOfAClientThatSentSomethingEndsWithTheStream) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  client.read_head();
  client.send("GET /other");
  std::this_thread::sleep_for(100ms);  // Until it was read.
  reader.close(CloseReason::ended);

  EXPECT_EQ(client.read_to_end(), "0\r\n\r\n");
}

TEST_F(SseServer, HTTP_7_StreamsAreCountedByDialectAndEnd) {
  options.metrics = &metrics;
  script->pieces = {"id: 1-1\n\n"};
  script->then = FeedStep::Kind::ended;
  start();
  TestClient replayed{port};
  replayed.send(get("/events"));
  replayed.read_stream();
  expect_destroyed(*script);
  EXPECT_NE(metrics.text().find("\nrunnel_stream_bytes_sent_total 9\n"), std::string::npos);
  TestClient live{port};
  live.send(get("/other"));
  Reader reader{other};
  live.read_head();
  EXPECT_NE(metrics.text().find("\nrunnel_streams 1\n"), std::string::npos);
  live.close();
  expect_destroyed(*other);

  auto const text = metrics.text();
  for (char const* line : {"runnel_streams_opened_total{dialect=\"ag-ui-1.0\"} 2",
                           "runnel_streams_closed_total{reason=\"ended\"} 1",
                           "runnel_streams_closed_total{reason=\"gone\"} 1", "runnel_streams 0"}) {
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
  EXPECT_EQ(client.read_stream(), "9\r\nid: 1-1\n\n\r\n");
}

TEST_F(SseServer, FeedThatFailsCutsTheStream) {
  script->pieces = {"id: 1-1\n\n"};
  script->fails = true;
  start();
  TestClient client{port};
  testing::internal::CaptureStderr();

  client.send(get("/events"));
  client.read_head();
  EXPECT_EQ(client.read_stream(), "9\r\nid: 1-1\n\n\r\n");
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
  EXPECT_EQ(client.read_stream().size(), 2'000'000u + std::string{"1e8480\r\n\r\n0\r\n\r\n"}.size());
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
  EXPECT_EQ(client.read_stream(), "5\r\nold\n\n\r\n7\r\nearly\n\n\r\n6\r\nlive\n\n\r\n0\r\n\r\n");
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
  EXPECT_EQ(client.read_stream(), "6\r\nlive\n\n\r\n");
  expect_destroyed(*script);
}

TEST_F(SseServer, FramesThatWaitLeaveInOneChunk) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  client.read_head();
  std::string const block(60'000, 'x');

  // The blocks are more than the kernel takes at once, so the later frames wait for it. The small frames are
  // so many that they need several gathering writes.
  for (int i = 0; i < 4; ++i)
    reader.frames(block);
  for (int i = 0; i < 200; ++i)
    reader.frames("y");
  reader.close(CloseReason::ended);

  auto const text = client.read_stream();
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
  EXPECT_EQ(client.read_stream(), "old\n\nlive\n\n");
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

}  // namespace
}  // namespace runnel::http
