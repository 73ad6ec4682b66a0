#include <boost/asio/post.hpp>

#include <atomic>
#include <thread>

#include "runnel/net/testing/http_client_case.h"

namespace runnel::net {
namespace {

TEST_F(HttpClientTest, StopWhileConnecting) {
  SilentPort const silent;
  auto const stop = never();
  Clock::time_point requested;
  request_after(stop, 50ms, requested);

  auto const answer = run(answer_of(post(silent.url()), 10s, stop));

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::canceled);
  EXPECT_LT(Clock::now() - requested, kAtOnce);
}

TEST_F(HttpClientTest, StopBeforeTheHeadClosesTheSocketAtOnce) {
  CloseWatch closed;
  TestUpstream upstream{[&](Visit& visit) {
    visit.read_request();
    visit.wait_for_close();
    closed.note();
  }};
  auto const stop = never();
  Clock::time_point requested;
  request_after(stop, 50ms, requested);

  auto const answer = run(answer_of(post(upstream.url()), 10s, stop));

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::canceled);
  EXPECT_LT(closed.after(requested), kAtOnce);
}

TEST_F(HttpClientTest, StopInTheBodyClosesTheSocketAtOnce) {
  CloseWatch closed;
  TestUpstream upstream{[&](Visit& visit) { send_half(visit, closed); }};
  auto const stop = never();
  Clock::time_point requested;
  request_after(stop, 50ms, requested);

  auto const answer = run(answer_of(post(upstream.url()), 10s, stop));

  EXPECT_EQ(answer.body, "half");
  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::canceled);
  EXPECT_LT(closed.after(requested), kAtOnce);
}

TEST_F(HttpClientTest, StopBetweenTwoReadsClosesTheSocketAtOnce) {
  CloseWatch closed;
  TestUpstream upstream{[&](Visit& visit) { send_half(visit, closed); }};
  auto const stop = never();
  auto const exchange = post(upstream.url());
  run(head_of(exchange.get(), stop));
  run(piece_of(exchange.get(), stop));
  auto const requested = Clock::now();

  stop->request(base::CancelReason::user);

  EXPECT_LT(closed.after(requested), kAtOnce);
  auto const later = run(piece_of(exchange.get(), stop));
  ASSERT_TRUE(later.error);
  EXPECT_EQ(later.error->kind, Kind::canceled);
}

TEST_F(HttpClientTest, StopRequestedBeforeEndsIt) {
  auto const stop = never();
  stop->request(base::CancelReason::user);
  TestUpstream upstream{[](Visit& visit) { visit.wait_for_close(); }};

  auto const answer = run(answer_of(post(upstream.url()), 10s, stop));

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::canceled);
}

TEST_F(HttpClientTest, DestroyedExchangeClosesTheSocketAtOnce) {
  CloseWatch closed;
  TestUpstream upstream{[&](Visit& visit) { send_half(visit, closed); }};
  auto exchange = post(upstream.url());
  run(head_of(exchange.get(), never()));
  auto const begin = Clock::now();

  exchange.reset();

  EXPECT_LT(closed.after(begin), kAtOnce);
}

TEST_F(HttpClientTest, ExchangeDestroyedUnderItsReaderEndsTheRead) {
  TestUpstream upstream{[](Visit& visit) { visit.wait_for_close(); }};
  auto exchange = post(upstream.url());
  asio::steady_timer timer{context_, 50ms};
  timer.async_wait([&exchange](boost::system::error_code) { exchange.reset(); });

  auto const answer = run(head_of(exchange.get(), never()));

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::canceled);
}

TEST_F(HttpClientTest, DestroyedClientEndsItsExchanges) {
  CloseWatch closed;
  TestUpstream upstream{[&](Visit& visit) {
    visit.wait_for_close();
    closed.note();
  }};
  auto const exchange = post(upstream.url());
  Clock::time_point destroyed;
  asio::steady_timer timer{context_, 50ms};
  timer.async_wait([&](boost::system::error_code) {
    destroyed = Clock::now();
    client_.reset();
  });

  auto const answer = run(head_of(exchange.get(), never()));

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::canceled);
  EXPECT_LT(closed.after(destroyed), kAtOnce);
}

// A coroutine that nobody joined is destroyed with the io_context. AddressSanitizer would report a leak.
TEST_F(HttpClientTest, StoppedCoreTakesItsWaitersAlong) {
  TestUpstream upstream{[](Visit& visit) { visit.wait_for_close(); }};
  auto own = std::make_unique<asio::io_context>(1);
  auto client = std::make_unique<HttpClient>(*own, HttpClient::Options{});
  HttpRequest request;
  request.url = upstream.url();
  auto exchange = client->post(std::move(request));
  bool ended = false;
  asio::co_spawn(*own, answer_of(std::move(exchange), 10s, never()),
                 [&ended](std::exception_ptr, Answer) { ended = true; });
  own->run_for(50ms);

  client.reset();
  own.reset();

  EXPECT_FALSE(ended);
}

// --- Back-pressure ---

TEST_F(HttpClientTest, NoMoreIsReadThanSomeoneAsksFor) {
  constexpr std::size_t kTotal = std::size_t{50} << 20;
  std::atomic<std::size_t> sent{0};
  TestUpstream upstream{[&](Visit& visit) {
    visit.read_request();
    visit.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kTotal) + "\r\n\r\n");
    std::string const block(std::size_t{64} << 10, 'x');
    while (sent < kTotal && visit.send(block))
      sent += block.size();
    visit.wait_for_close();
  }};
  auto exchange = post(upstream.url());
  run(head_of(exchange.get(), never()));
  for (std::size_t before = 1; before != sent;) {
    before = sent;
    run_for(200ms);
  }
  EXPECT_LT(sent, kTotal / 2);  // Little more than what the buffers of both sockets hold.

  auto const first = run(piece_of(exchange.get(), never()));
  auto const rest = run(answer_of(std::move(exchange), 10s, never()));

  EXPECT_GT(first.body.size(), std::size_t{100} << 10);
  EXPECT_LE(first.body.size(), std::size_t{256} << 10);
  ASSERT_FALSE(rest.error) << rest.error->detail;
  EXPECT_EQ(first.body.size() + rest.body.size(), kTotal);
}

TEST_F(HttpClientTest, StopWhileHeldBackClosesTheSocketAtOnce) {
  CloseWatch closed;
  TestUpstream upstream{[&](Visit& visit) {
    visit.read_request();
    visit.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (visit.send("400\r\n" + std::string(1024, 'x') + "\r\n")) {
    }
    closed.note();
  }};
  auto const stop = never();
  auto const exchange = post(upstream.url());
  run(head_of(exchange.get(), stop));
  run_for(200ms);
  auto const requested = Clock::now();

  stop->request(base::CancelReason::user);

  EXPECT_LT(closed.after(requested), kAtOnce);
}

}  // namespace
}  // namespace runnel::net
