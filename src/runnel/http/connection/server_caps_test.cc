#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <deque>
#include <future>
#include <thread>

#include "runnel/http/testing/test_server.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

std::atomic<bool> released = false;
std::atomic<int> held = 0;

asio::awaitable<api::Reply> say_hello(api::Request /*request*/) {
  co_return api::Response{200, "text/plain", "hello", {}};
}

asio::awaitable<api::Reply> hold(api::Request /*request*/) {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  ++held;
  while (!released) {
    timer.expires_after(1ms);
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return api::Response{200, "text/plain", "held", {}};
}

asio::awaitable<api::Reply> block(api::Request /*request*/) {
  ++held;
  while (!released)
    std::this_thread::sleep_for(1ms);
  co_return api::Response{200, "text/plain", "blocked", {}};
}

class ServerCaps : public TestServer {
 protected:
  ServerCaps() {
    router.add(api::Method::get, "/hello", api::Access::open, say_hello);
    router.add(api::Method::get, "/hold", api::Access::open, hold);
    router.add(api::Method::get, "/block", api::Access::open, block);
    released = false;
    held = 0;
  }
  ~ServerCaps() override { released = true; }

  // Opens a connection and waits until the server has accepted it, so that the server accepts connections in
  // the order in which they are opened.
  TestClient& open() {
    auto& client = clients.emplace_back(port);
    settle();
    return client;
  }
  TestClient& open_proven() {
    auto& client = open();
    EXPECT_EQ(client.ask(get("/hello")).body, "hello");
    settle();
    return client;
  }
  // Returns when the cores have done what they can do without waiting: each round, every core looks once for
  // events of its sockets, and what one core posts to another is at most a few hops long.
  void settle() {
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t core = 0; core < cores.size(); ++core) {
        std::promise<void> reached;
        asio::post(cores.at(core), [&reached] { reached.set_value(); });
        reached.get_future().wait();
      }
    }
  }
  static void wait_for_held(int count) {
    while (held < count)
      std::this_thread::sleep_for(1ms);
  }

  std::deque<TestClient> clients;
};

TEST_F(ServerCaps, HTTP_6_SilentConnectionsMakeRoomForNewcomers) {
  limits.max_silent_connections = 4;
  start();
  for (int i = 0; i < 20; ++i)
    open();

  auto& latest = open_proven();

  for (int i = 0; i < 14; ++i)
    EXPECT_EQ(clients[static_cast<std::size_t>(i)].read_to_end(), "") << i;
  EXPECT_EQ(latest.ask(get("/hello")).body, "hello");
  EXPECT_EQ(clients[19].ask(get("/hello")).body, "hello");
}

TEST_F(ServerCaps, HTTP_6_HalfAHeadIsNoWayToStay) {
  limits.max_silent_connections = 4;
  start();
  for (int i = 0; i < 20; ++i)
    open().send("GET /hello HTTP/1.1\r\nHost: a\r\n");

  EXPECT_EQ(open_proven().ask(get("/hello")).body, "hello");
  EXPECT_EQ(clients[0].read_to_end(), "");
}

TEST_F(ServerCaps, HTTP_6_ProvenConnectionStaysWhileSilentOnesGo) {
  limits.max_connections = 6;
  start();
  auto& proven = open_proven();
  for (int i = 0; i < 30; ++i)
    open();

  EXPECT_EQ(proven.ask(get("/hello")).body, "hello");
  EXPECT_EQ(clients[1].read_to_end(), "");
}

TEST_F(ServerCaps, HTTP_6_SilentOnesGoFirstOnWhicheverCoreTheyAre) {
  limits.max_connections = 4;
  start();
  auto& first = open_proven();  // Core 0.
  open();                       // Core 1.
  auto& second = open_proven();
  open();

  auto& latest = open_proven();  // Core 0, where all connections have sent a request.

  EXPECT_EQ(clients[1].read_to_end(), "");
  for (auto* client : {&first, &second, &latest, &clients[3]})
    EXPECT_EQ(client->ask(get("/hello")).body, "hello");
}

TEST_F(ServerCaps, HTTP_6_IdleConnectionsGoWhenNoneIsSilent) {
  limits.max_connections = 4;
  start();
  for (int i = 0; i < 4; ++i)
    open_proven();
  clients[0].ask(get("/hello"));  // Makes the third the longest idle one on core 0.
  settle();

  open_proven();

  EXPECT_EQ(clients[2].read_to_end(), "");
  for (std::size_t const i : {0U, 1U, 3U, 4U})
    EXPECT_EQ(clients[i].ask(get("/hello")).body, "hello") << i;
}

TEST_F(ServerCaps, HTTP_6_ServedConnectionsStayAndTheNewcomerIsTurnedAway) {
  limits.max_connections = 2;
  start();
  open().send(get("/hold"));
  open().send(get("/hold"));
  wait_for_held(2);

  auto const refused = TestClient{port}.ask(get("/hello"));
  released = true;

  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.has("Connection: close\r\n"));
  EXPECT_TRUE(refused.has("Retry-After: "));
  EXPECT_EQ(refused.body,
            R"({"error":{"code":"TOO_MANY_CONNECTIONS","message":"The server is full.","details":{}}})");
  EXPECT_EQ(clients[0].read_answer().body, "held");
  EXPECT_EQ(clients[1].read_answer().body, "held");
  EXPECT_EQ(open_proven().ask(get("/hello")).body, "hello");
}

TEST_F(ServerCaps, HTTP_6_ConnectionWhoseRequestWaitsToBeReadStays) {
  limits.max_connections = 4;
  start();
  open().send(get("/hold"));  // Core 0 has no connection to close,
  auto& waiting = open();
  open().send(get("/hold"));
  wait_for_held(2);
  open().send(get("/block"));  // and core 1 is blocked and does not read.
  wait_for_held(3);
  waiting.send(get("/hello"));

  TestClient latest{port};  // Core 0 asks core 1 to make room.
  std::this_thread::sleep_for(20ms);
  released = true;

  EXPECT_EQ(waiting.read_answer().body, "hello");
}

TEST_F(ServerCaps, HTTP_6_NonsenseDoesNotKeepAPlace) {
  limits.max_connections = 8;
  limits.max_silent_connections = 4;
  limits.stop_grace = 60s;  // For a refused client to read its answer while there is room.
  start();
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(open().ask("nonsense\r\n\r\n").status, 400) << i;

  EXPECT_EQ(open_proven().ask(get("/hello")).body, "hello");
  clients.clear();
}

TEST_F(ServerCaps, StopFindsConnectionsInEveryState) {
  limits.max_connections = 8;
  limits.max_silent_connections = 4;
  start();
  for (int i = 0; i < 200; ++i) {
    auto& client = clients.emplace_back(port);
    if (i % 3 == 0) client.send("GET /hel");
    if (i % 5 == 0) client.send(get("/hello"));
  }

  server->stop();

  for (auto& client : clients)
    client.read_to_end();
}

}  // namespace
}  // namespace runnel::http
