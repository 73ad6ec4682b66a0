#include <atomic>
#include <thread>

#include "runnel/net/testing/http_client_case.h"

namespace runnel::net {
namespace {

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

// The label is too long for DNS, so no request leaves this machine.
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

}  // namespace
}  // namespace runnel::net
