#include "runnel/http/testing/sse_server_case.h"

namespace runnel::http {
namespace {

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

  EXPECT_LT(slow.read_stream().size(), 400'000u);
  auto const text = quick.read_stream();
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
  EXPECT_EQ(client.read_stream(), "");
}

TEST_F(SseServer, SSE_6_SingleBatchLargerThanTheBufferIsDelivered) {
  script->early = {std::string(300'000, 'x')};
  start();
  TestClient client{port};

  client.send(get("/events"));
  Reader reader{script};
  reader.close(CloseReason::ended);

  client.read_head();
  EXPECT_GT(client.read_stream().size(), 300'000U);
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
  EXPECT_EQ(client.read_stream(), "6\r\nlive\n\n\r\n0\r\n\r\n");
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
  EXPECT_EQ(client.read_stream(), "6\r\nlive\n\n\r\n0\r\n\r\n");
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
  EXPECT_EQ(client.read_stream(), "6\r\nlive\n\n\r\n");
  expect_destroyed(*script);
  late.send(get("/other"));
  EXPECT_EQ(late.read_head().status, 200);
  EXPECT_EQ(late.read_stream(), "");
}

TEST_F(SseServer, StopReturnsWhenEveryFeedIsGone) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};

  server->stop();

  EXPECT_EQ(script->destroyed.get_future().wait_for(0s), std::future_status::ready);
  client.read_head();
  EXPECT_EQ(client.read_stream(), "");
  reader.frames("late\n\n");
}

TEST_F(SseServer, HeadOfAStreamHasNoBody) {
  start();
  TestClient client{port};

  client.send("HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n");

  EXPECT_TRUE(client.read_stream().ends_with("\r\n\r\n"));
  expect_destroyed(*script);
}

// An idle subscriber may cost 2.5 KiB in all (bench/README.md).
TEST(StreamSession, IsSmall) {
  EXPECT_LE(sizeof(StreamSession), 320u);
}

TEST_F(SseServer, HTTP_3_StreamEndsWithItsToken) {
  router.add(api::Method::get, "/mine", api::Access::user,
             [this](api::Request const& /*request*/) { return open_feed(script); });
  start();
  TestClient client{port};
  auto const token = authenticator->issue_token(UserId{"demo"}, 2s);

  client.send(get("/mine", "Authorization: Bearer " + token + "\r\n"));
  client.read_head();
  Reader reader{script};
  reader.frames("first\n\n");

  auto const rest = client.read_stream();
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
  client.read_stream();

  expect_destroyed(*script);
  EXPECT_EQ(script->backlog, 0U);
}

}  // namespace
}  // namespace runnel::http
