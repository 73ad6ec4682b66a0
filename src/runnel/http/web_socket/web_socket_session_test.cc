#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runnel/http/testing/sse_server_case.h"
#include "runnel/http/web_socket/web_socket_reader.h"

namespace runnel::http {
namespace {

using namespace std::string_literals;

class WebSocketSession : public SseServer {
 protected:
  WebSocketSession() { script->accept = "accepted"; }

  // The server's bytes behind the head of its answer, up to the close.
  std::string rest_of(TestClient& client) {
    auto const answer = client.read_head();
    EXPECT_EQ(answer.status, 101);
    EXPECT_TRUE(answer.has("Sec-WebSocket-Accept: accepted")) << answer.head;
    return client.read_to_end();
  }

  std::vector<std::shared_ptr<Script>> scripts_;
};

std::string masked_close() {
  return "\x88\x82\x01\x01\x01\x01"s + static_cast<char>(0x03 ^ 1) + static_cast<char>(0xE8 ^ 1);
}

TEST_F(WebSocketSession, TASK_5_StoredFramesThenLiveOnesThenTheReasonOfTheEnd) {
  script->pieces = {"stored"};
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  reader.frames("live");
  reader.close(CloseReason::ended);
  client.send(masked_close());

  EXPECT_EQ(rest_of(client), "storedlive" + close_frame(WebSocketClose::normal, ""));
  expect_destroyed(*script);
}

TEST_F(WebSocketSession, TASK_5_ReaderThatIsToComeBackIsToldSo) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  reader.close(CloseReason::reconnect);
  client.send(masked_close());

  EXPECT_EQ(rest_of(client), close_frame(WebSocketClose::restart, "reconnect"));
}

TEST_F(WebSocketSession, TASK_5_ReplayThatIsCompleteEndsWithItsReason) {
  for (auto const then : {FeedStep::Kind::ended, FeedStep::Kind::reconnect}) {
    auto const chosen = std::make_shared<Script>();
    chosen->accept = "accepted";
    chosen->pieces = {"stored"};
    chosen->then = then;
    add(then == FeedStep::Kind::ended ? "/ended" : "/reconnect", chosen);
  }
  limits.stop_grace = 30ms;
  start();
  for (auto const& [path, frame] :
       {std::pair{"/ended"s, close_frame(WebSocketClose::normal, "")},
        std::pair{"/reconnect"s, close_frame(WebSocketClose::restart, "reconnect")}}) {
    TestClient client{port};
    client.send(get(path));  // It does not answer the close frame, so the server closes by itself.
    EXPECT_EQ(rest_of(client), "stored" + frame) << path;
  }
}

// The client is gone before, while or after the session begins: whatever it has queued is not touched again.
TEST_F(WebSocketSession, TASK_5_ClientThatLeavesAtOnceIsForgotten) {
  for (int i = 0; i < 40; ++i) {
    auto const chosen = std::make_shared<Script>();
    chosen->accept = "accepted";
    chosen->pieces = {std::string(i % 2 == 0 ? 1 : 50'000, 'x')};
    chosen->then = FeedStep::Kind::ended;
    add("/leaves-" + std::to_string(i), chosen);
    scripts_.push_back(chosen);
  }
  start();
  for (std::size_t i = 0; i < scripts_.size(); ++i) {
    {
      TestClient client{port};
      client.send(get("/leaves-" + std::to_string(i)) + (i % 3 == 0 ? masked_close() : ""));
      if (i % 4 == 0) client.read_head();
      client.close();
    }
    expect_destroyed(*scripts_[i]);
  }
}

TEST_F(WebSocketSession, TASK_5_CloseFrameStandsBetweenMessagesAlsoIfTheReaderIsSlow) {
  limits.subscriber_buffer_bytes = 64 * 1024;
  limits.send_buffer_bytes = 4096;
  start();
  TestClient slow{port, {.receive_buffer_bytes = 4096}};
  slow.send(get("/events"));
  Reader reader{script};
  std::string const message = "\x81\x7e\x1f\x40"s + std::string(8000, 'x');
  for (int i = 0; i < 100; ++i)
    reader.frames(message);

  slow.read_head();
  auto const got = slow.read_to_end();

  auto const last = close_frame(WebSocketClose::try_later, "too slow");
  ASSERT_TRUE(got.ends_with(last));
  EXPECT_EQ((got.size() - last.size()) % message.size(), 0U) << "whole messages";
  EXPECT_LT(got.size(), 100 * message.size());
  expect_destroyed(*script);
}

TEST_F(WebSocketSession, HTTP_9_ClientThatSendsWithoutEndIsClosed) {
  start();
  TestClient client{port};
  client.send(get("/events"));
  Reader reader{script};
  client.read_head();
  std::string const message = "\x82\xfe\x40\x00\x00\x00\x00\x00"s + std::string(16384, 'x');
  try {
    for (int i = 0; i < 40; ++i)
      client.send(message);
  } catch (std::exception const&) {
    // The server has closed the connection.
  }
  expect_destroyed(*script);
}

}  // namespace
}  // namespace runnel::http
