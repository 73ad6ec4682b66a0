#include "runnel/net/http_client.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
#include <stdexcept>
#include <thread>

#include "runnel/base/cancel.h"
#include "runnel/net/test_certificate.h"
#include "runnel/net/test_upstream.h"

namespace runnel::net {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Kind = HttpError::Kind;
using Stop = std::shared_ptr<base::Cancel>;

// What is asked to end "at once" may take as long as a busy machine makes it, but no time-out of any layer.
constexpr auto kAtOnce = 500ms;

struct Answer {
  HttpHead head;
  std::string body;
  std::size_t pieces = 0;
  std::optional<HttpError> error;
};

Stop never() {
  return std::make_shared<base::Cancel>();
}

Deadline in(std::chrono::milliseconds duration) {
  return Clock::now() + duration;
}

asio::awaitable<Answer> answer_of(std::unique_ptr<HttpExchange> exchange, std::chrono::milliseconds patience,
                                  Stop stop) {
  Answer answer;
  auto head = co_await exchange->head(in(patience), stop);
  if (!head) {
    answer.error = head.error();
    co_return answer;
  }
  answer.head = std::move(*head);
  for (;;) {
    auto piece = co_await exchange->read(in(patience), stop);
    if (!piece) answer.error = piece.error();
    if (!piece || piece->empty()) co_return answer;
    answer.body += *piece;
    ++answer.pieces;
  }
}

asio::awaitable<Answer> head_of(HttpExchange* exchange, Stop stop) {
  Answer answer;
  auto head = co_await exchange->head(in(10s), stop);
  if (head) {
    answer.head = std::move(*head);
  } else {
    answer.error = head.error();
  }
  co_return answer;
}

asio::awaitable<Answer> piece_of(HttpExchange* exchange, Stop stop) {
  Answer answer;
  auto piece = co_await exchange->read(in(10s), stop);
  if (piece) {
    answer.body = std::move(*piece);
  } else {
    answer.error = piece.error();
  }
  co_return answer;
}

// Notes when the client closed.
class CloseWatch {
 public:
  void note() { closed_.set_value(Clock::now()); }
  // None within 10 s: the largest duration.
  Clock::duration after(Clock::time_point begin) {
    auto closed = closed_.get_future();
    if (closed.wait_for(10s) != std::future_status::ready) return Clock::duration::max();
    return closed.get() - begin;
  }

 private:
  std::promise<Clock::time_point> closed_;
};

class HttpClientTest : public testing::Test {
 protected:
  HttpClientTest() { make_client({}); }

  void make_client(HttpClient::Options options) {
    client_ = std::make_unique<HttpClient>(context_, std::move(options));
  }

  std::unique_ptr<HttpExchange> post(std::string const& url, std::string const& body = "{}") {
    HttpRequest request;
    request.url = url;
    request.headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer canary-key"}};
    request.body = body;
    return client_->post(std::move(request));
  }

  // Runs the core until the coroutine ends; throws where that takes longer than 20 s.
  Answer run(asio::awaitable<Answer> work) {
    std::optional<Answer> outcome;
    std::exception_ptr thrown;
    asio::co_spawn(context_, std::move(work), [&](std::exception_ptr e, Answer answer) {
      thrown = e;
      outcome.emplace(std::move(answer));
    });
    auto const end = in(20s);
    context_.restart();
    while (!outcome) {
      if (Clock::now() > end) throw std::runtime_error{"hangs"};
      context_.run_one_for(1s);
    }
    if (thrown) std::rethrow_exception(thrown);
    return std::move(*outcome);
  }

  Answer ask(std::string const& url, std::string const& body = "{}") {
    return run(answer_of(post(url, body), 10s, never()));
  }

  void run_for(std::chrono::milliseconds duration) {
    context_.restart();
    context_.run_for(duration);
  }

  // The stop is requested when the core has been busy for a while.
  void request_after(Stop stop, std::chrono::milliseconds delay, Clock::time_point& requested) {
    auto timer = std::make_shared<asio::steady_timer>(context_, delay);
    timer->async_wait([timer, stop, &requested](boost::system::error_code) {
      requested = Clock::now();
      stop->request(base::CancelReason::user);
    });
  }

  asio::io_context context_{1};
  std::unique_ptr<HttpClient> client_;
};

// --- Answers ---

TEST_F(HttpClientTest, RequestArrivesAsItWasGiven) {
  std::string request;
  TestUpstream upstream{[&](Visit& visit) {
    request = visit.read_request();
    visit.answer("hello", "X-Some: thing\r\nX-Some: other\r\n");
    visit.wait_for_close();
  }};

  auto const answer = ask(upstream.url() + "/chat", R"({"a":1})");

  ASSERT_FALSE(answer.error) << answer.error->detail;
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.header("x-some"), "thing");
  EXPECT_EQ(answer.head.header("absent"), std::nullopt);
  EXPECT_EQ(answer.body, "hello");
  EXPECT_TRUE(request.starts_with("POST /v1/chat HTTP/1.1\r\n")) << request;
  EXPECT_TRUE(request.ends_with("\r\n\r\n{\"a\":1}")) << request;
  EXPECT_NE(request.find("\r\nAuthorization: Bearer canary-key\r\n"), std::string::npos);
  EXPECT_NE(request.find("\r\nContent-Type: application/json\r\n"), std::string::npos);
  EXPECT_EQ(request.find("Expect"), std::string::npos);
}

TEST_F(HttpClientTest, LargeBodyIsSentWithoutAsking) {
  std::string request;
  TestUpstream upstream{[&](Visit& visit) {
    request = visit.read_request();
    visit.answer("");
  }};
  std::string const body(std::size_t{3} << 20, 'x');

  auto const answer = ask(upstream.url(), body);

  ASSERT_FALSE(answer.error) << answer.error->detail;
  EXPECT_EQ(answer.body, "");
  EXPECT_TRUE(request.ends_with(body));
  EXPECT_EQ(request.find("Expect: "), std::string::npos);
}

TEST_F(HttpClientTest, ChunksComeAsTheyArrive) {
  std::promise<void> first_was_read;
  TestUpstream upstream{[&](Visit& visit) {
    visit.read_request();
    visit.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    first_was_read.get_future().wait();
    visit.send("6\r\nsecond\r\n5\r\nthird\r\n0\r\nX-Trailer: passed over\r\n\r\n");
    visit.wait_for_close();
  }};
  auto const exchange = post(upstream.url());

  auto const head = run(head_of(exchange.get(), never()));
  auto const first = run(piece_of(exchange.get(), never()));
  first_was_read.set_value();
  auto const rest = run(piece_of(exchange.get(), never()));
  auto const end = run(piece_of(exchange.get(), never()));

  EXPECT_EQ(head.head.status, 200);
  EXPECT_EQ(first.body, "first");
  EXPECT_EQ(rest.body, "secondthird");
  ASSERT_FALSE(end.error) << end.error->detail;
  EXPECT_EQ(end.body, "");
}

TEST_F(HttpClientTest, BodyMayEndWithTheConnection) {
  TestUpstream upstream{[](Visit& visit) {
    visit.read_request();
    visit.send("HTTP/1.0 200 OK\r\n\r\nuntil the end");
  }};

  auto const answer = ask(upstream.url());

  ASSERT_FALSE(answer.error) << answer.error->detail;
  EXPECT_EQ(answer.body, "until the end");
}

TEST_F(HttpClientTest, OnlyTheFinalHeadCounts) {
  TestUpstream upstream{[](Visit& visit) {
    visit.read_request();
    visit.send("HTTP/1.1 103 Early Hints\r\nX-Early: yes\r\n\r\n");
    visit.send(
        "HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\nX-Long: one\r\n two\r\nContent-Length: 2\r\n\r\nno");
  }};

  auto const answer = ask(upstream.url());

  ASSERT_FALSE(answer.error) << answer.error->detail;
  EXPECT_EQ(answer.head.status, 429);
  EXPECT_EQ(answer.head.header("retry-after"), "7");
  EXPECT_EQ(answer.head.header("x-long"), "one two");
  EXPECT_EQ(answer.head.header("x-early"), std::nullopt);
  EXPECT_EQ(answer.body, "no");
}

TEST_F(HttpClientTest, RedirectIsNotFollowed) {
  TestUpstream upstream{[](Visit& visit) {
    visit.read_request();
    visit.send("HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  }};

  auto const answer = ask(upstream.url());

  ASSERT_FALSE(answer.error) << answer.error->detail;
  EXPECT_EQ(answer.head.status, 307);
}

// --- The pool ---

TEST_F(HttpClientTest, ConnectionIsUsedAgain) {
  TestUpstream upstream{[](Visit& visit) {
    while (!visit.read_request().empty())
      visit.answer("x");
  }};

  for (int i = 0; i < 5; ++i) {
    auto const answer = ask(upstream.url());
    ASSERT_FALSE(answer.error) << answer.error->detail;
  }

  EXPECT_EQ(upstream.connections(), 1U);
}

TEST_F(HttpClientTest, NoMoreConnectionsThanAllowedStayIdle) {
  make_client({.max_idle_connections = 2, .ca_file = {}});
  std::atomic<int> closed{0};
  std::atomic<int> asked{0};
  TestUpstream upstream{[&](Visit& visit) {
    visit.read_request();
    for (++asked; asked < 6;)
      std::this_thread::yield();
    visit.answer("x");
    visit.wait_for_close();
    ++closed;
  }};
  std::vector<std::unique_ptr<HttpExchange>> exchanges;
  for (int i = 0; i < 6; ++i)
    exchanges.push_back(post(upstream.url()));

  for (auto& exchange : exchanges)
    run(answer_of(std::move(exchange), 10s, never()));

  for (auto const end = in(10s); closed < 3 && Clock::now() < end;)
    std::this_thread::yield();
  EXPECT_GE(closed, 3);
  EXPECT_LE(closed, 4);
}

TEST_F(HttpClientTest, ConnectionThatTheServerClosedMeanwhileIsReplaced) {
  TestUpstream upstream{[](Visit& visit) {
    visit.read_request();
    visit.answer(std::to_string(visit.number()));
  }};
  auto const first = ask(upstream.url());
  run_for(20ms);

  auto const second = ask(upstream.url());

  EXPECT_EQ(first.body, "1");
  ASSERT_FALSE(second.error) << second.error->detail;
  EXPECT_EQ(second.body, "2");
}

TEST_F(HttpClientTest, ConnectionThatTheServerClosesOnTheRequestIsReplaced) {
  TestUpstream upstream{[](Visit& visit) {
    visit.read_request();
    visit.answer(std::to_string(visit.number()));
    visit.read_request();
  }};
  ask(upstream.url());

  auto const second = ask(upstream.url(), "again");

  ASSERT_FALSE(second.error) << second.error->detail;
  EXPECT_EQ(second.body, "2");
}

TEST_F(HttpClientTest, HundredAtOnce) {
  TestUpstream upstream{[](Visit& visit) {
    for (auto request = visit.read_request(); !request.empty(); request = visit.read_request()) {
      auto const body = request.substr(request.find("\r\n\r\n") + 4);
      visit.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      for (int i = 0; i < 20; ++i)
        visit.send("4\r\n" + body + "\r\n");
      visit.send("0\r\n\r\n");
    }
  }};
  std::vector<std::unique_ptr<HttpExchange>> exchanges;
  for (int i = 0; i < 100; ++i)
    exchanges.push_back(post(upstream.url(), std::to_string(1000 + i)));

  for (int i = 0; i < 100; ++i) {
    auto const answer = run(answer_of(std::move(exchanges[static_cast<std::size_t>(i)]), 10s, never()));

    ASSERT_FALSE(answer.error) << answer.error->detail;
    std::string expected;
    for (int k = 0; k < 20; ++k)
      expected += std::to_string(1000 + i);
    EXPECT_EQ(answer.body, expected);
  }
}

// --- Failures ---

TEST_F(HttpClientTest, RefusedConnectionIsUnreachable) {
  std::string url;
  {
    TestUpstream const gone{[](Visit&) {}};
    url = gone.url();
  }

  auto const answer = ask(url);

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::unreachable);
  EXPECT_NE(answer.error->detail.find("127.0.0.1"), std::string::npos) << answer.error->detail;
}

// The label is too long to be looked up, so that nothing is asked outside.
TEST_F(HttpClientTest, NameThatCannotBeResolvedIsUnreachable) {
  auto const answer = ask("http://" + std::string(70, 'a') + ".invalid/v1");

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::unreachable);
}

TEST_F(HttpClientTest, NothingButHttpIsSpoken) {
  for (std::string const url :
       {"file:///etc/hostname", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "", "http://"}) {
    auto const answer = ask(url);

    ASSERT_TRUE(answer.error) << url;
    EXPECT_EQ(answer.error->kind, Kind::unreachable) << url;
  }
}

TEST_F(HttpClientTest, ConnectingTakesNoLongerThanAllowed) {
  SilentPort const silent;
  HttpRequest request;
  request.url = silent.url();
  request.connect_timeout = 200ms;
  auto const begin = Clock::now();

  auto const answer = run(answer_of(client_->post(std::move(request)), 10s, never()));

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::timed_out);
  EXPECT_LT(Clock::now() - begin, 200ms + kAtOnce);
}

TEST_F(HttpClientTest, DeadlineBeforeTheHeadClosesTheSocket) {
  CloseWatch closed;
  TestUpstream upstream{[&](Visit& visit) {
    visit.read_request();
    visit.wait_for_close();
    closed.note();
  }};
  auto const begin = Clock::now();

  auto const answer = run(answer_of(post(upstream.url()), 100ms, never()));

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::timed_out);
  EXPECT_LT(closed.after(begin), 100ms + kAtOnce);
}

TEST_F(HttpClientTest, DeadlineInTheBodyIsThatOfTheCall) {
  TestUpstream upstream{[](Visit& visit) {
    visit.read_request();
    visit.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
    for (int i = 0; i < 8; ++i) {
      visit.send("x");
      std::this_thread::sleep_for(50ms);
    }
    visit.wait_for_close();
  }};
  auto const begin = Clock::now();

  auto const answer = run(answer_of(post(upstream.url()), 300ms, never()));

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::timed_out);
  EXPECT_EQ(answer.body, "xxxxxxxx");
  EXPECT_GE(Clock::now() - begin, 600ms);
}

TEST_F(HttpClientTest, EarlierDeadlineThanBeforeHolds) {
  TestUpstream upstream{[](Visit& visit) {
    visit.read_request();
    visit.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
    visit.wait_for_close();
  }};
  auto exchange = post(upstream.url());
  run(head_of(exchange.get(), never()));
  auto const begin = Clock::now();

  auto const answer = run(answer_of(std::move(exchange), 50ms, never()));

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::timed_out);
  EXPECT_LT(Clock::now() - begin, 50ms + kAtOnce);
}

TEST_F(HttpClientTest, CutBodyIsToldAfterWhatCame) {
  for (std::string const head :
       {"Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        "Transfer-Encoding: chunked\r\n\r\nff\r\nhalf"}) {
    TestUpstream upstream{[&](Visit& visit) {
      visit.read_request();
      visit.send("HTTP/1.1 200 OK\r\n" + head);
    }};

    auto const answer = ask(upstream.url());

    EXPECT_EQ(answer.body, "half") << head;
    ASSERT_TRUE(answer.error) << head;
    EXPECT_EQ(answer.error->kind, Kind::cut) << head;
  }
}

TEST_F(HttpClientTest, CutBeforeOrInTheHead) {
  for (std::string const bytes : {"", "HTTP/1.1 200 OK\r\nContent-"}) {
    TestUpstream upstream{[&](Visit& visit) {
      visit.read_request();
      visit.send(bytes);
    }};

    auto const answer = ask(upstream.url());

    ASSERT_TRUE(answer.error) << bytes;
    EXPECT_TRUE(answer.error->kind == Kind::cut || !bytes.empty()) << answer.error->detail;
  }
}

TEST_F(HttpClientTest, WhatIsNotHttpIsMalformedAndNotRepeated) {
  for (std::string const bytes : {"SSH-2.0-canary-answer\r\n", "HTTP/9.9 canary-answer\r\n\r\n",
                                  "HTTP/1.1 200 OK\r\nContent-Length: -canary-answer\r\n\r\n"}) {
    TestUpstream upstream{[&](Visit& visit) {
      visit.read_request();
      visit.send(bytes);
    }};

    auto const answer = ask(upstream.url());

    ASSERT_TRUE(answer.error) << bytes;
    EXPECT_EQ(answer.error->kind, Kind::malformed) << bytes;
    EXPECT_EQ(answer.error->detail.find("canary"), std::string::npos) << answer.error->detail;
  }
}

TEST_F(HttpClientTest, HugeHeadIsMalformed) {
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += "X-Canary-" + std::to_string(i) + ": " + std::string(1000, 'x') + "\r\n";
  for (std::string const& fields : {many, "X-Canary: " + std::string(300'000, 'x') + "\r\n"}) {
    TestUpstream upstream{[&](Visit& visit) {
      visit.read_request();
      visit.send("HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 0\r\n\r\n");
    }};

    auto const answer = ask(upstream.url());

    ASSERT_TRUE(answer.error);
    EXPECT_EQ(answer.error->kind, Kind::malformed) << answer.error->detail;
    EXPECT_EQ(answer.error->detail.find("Canary"), std::string::npos);
  }
}

TEST_F(HttpClientTest, HeaderThatWouldBreakTheRequestIsNotSent) {
  TestUpstream upstream{[](Visit& visit) { visit.read_request(); }};
  HttpRequest request;
  request.url = upstream.url();
  request.headers = {{"Authorization", "Bearer canary-key\nX-Injected: yes"}};

  auto const answer = run(answer_of(client_->post(std::move(request)), 10s, never()));

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::unreachable);
  EXPECT_EQ(answer.error->detail.find("canary"), std::string::npos);
  EXPECT_EQ(upstream.connections(), 0U);
}

// --- Stopping ---

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
  TestUpstream upstream{[&](Visit& visit) {
    visit.read_request();
    visit.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    visit.wait_for_close();
    closed.note();
  }};
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
  TestUpstream upstream{[&](Visit& visit) {
    visit.read_request();
    visit.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    visit.wait_for_close();
    closed.note();
  }};
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
  TestUpstream upstream{[&](Visit& visit) {
    visit.read_request();
    visit.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    visit.wait_for_close();
    closed.note();
  }};
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

// A coroutine that nobody joined goes with the io_context. AddressSanitizer sees what would be left.
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
  EXPECT_LT(sent, kTotal / 2);  // What the buffers of both sockets hold, and little more.

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

// --- TLS and proxies ---

TEST_F(HttpClientTest, CertificateOfNobodyKnownIsRefused) {
  TestCertificate const certificate;
  std::atomic<int> requests{0};
  TestUpstream upstream{[&](Visit& visit) {
                          if (!visit.read_request().empty()) ++requests;
                        },
                        certificate.server()};

  auto const answer = ask(upstream.url());

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::untrusted) << answer.error->detail;
  EXPECT_EQ(requests, 0);
}

TEST_F(HttpClientTest, CertificateOfTheFileIsAccepted) {
  TestCertificate const certificate;
  make_client({.max_idle_connections = 64, .ca_file = certificate.file()});
  TestUpstream upstream{[](Visit& visit) {
                          while (!visit.read_request().empty())
                            visit.answer(std::string(100'000, 'x'));
                        },
                        certificate.server()};

  auto const first = ask(upstream.url());
  auto const second = ask(upstream.url());

  ASSERT_FALSE(first.error) << first.error->detail;
  ASSERT_FALSE(second.error) << second.error->detail;
  EXPECT_EQ(second.body.size(), 100'000U);
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST_F(HttpClientTest, CertificateForAnotherNameIsRefused) {
  TestCertificate const certificate;
  make_client({.max_idle_connections = 64, .ca_file = certificate.file()});
  TestUpstream upstream{[](Visit& visit) { visit.read_request(); }, certificate.server()};

  auto const answer = ask("https://localhost:" + std::to_string(upstream.port()) + "/");

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::untrusted) << answer.error->detail;
}

TEST_F(HttpClientTest, ServerWithoutTlsIsNotReached) {
  TestUpstream upstream{[](Visit& visit) {
    visit.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    visit.wait_for_close();
  }};

  auto const answer = ask("https://127.0.0.1:" + std::to_string(upstream.port()) + "/");

  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->kind, Kind::unreachable) << answer.error->detail;
}

TEST_F(HttpClientTest, ProxyIsTheEnvironments) {
  std::string request;
  TestUpstream proxy{[&](Visit& visit) {
    request = visit.read_request();
    visit.answer("by proxy");
  }};
  ::setenv("http_proxy", proxy.url().c_str(), 1);

  auto const answer = ask("http://upstream.invalid/v1");
  ::unsetenv("http_proxy");

  ASSERT_FALSE(answer.error) << answer.error->detail;
  EXPECT_EQ(answer.body, "by proxy");
  EXPECT_TRUE(request.starts_with("POST http://upstream.invalid/v1 HTTP/1.1\r\n")) << request;
}

}  // namespace
}  // namespace runnel::net
