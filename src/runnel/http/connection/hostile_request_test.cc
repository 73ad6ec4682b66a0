#include <string>
#include <vector>

#include "runnel/http/testing/test_server.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace std::string_literals;

constexpr int kClosed = 0;

asio::awaitable<api::Reply> echo_body(api::Request request) {
  co_return api::Response{200, "text/plain", request.body, {}};
}

asio::awaitable<api::Reply> huge(api::Request /*request*/) {
  co_return api::Response{200, "text/plain", std::string(8'000'000, 'x'), {}};
}

// Every case is a request that some server has misread. If one were misread here, its smuggled second half
// would be answered with 200.
class HostileRequest : public TestServer {
 protected:
  HostileRequest() {
    router.add(api::Method::post, "/echo", api::Access::open, echo_body);
    router.add(api::Method::get, "/echo", api::Access::open, echo_body);
    router.add(api::Method::get, "/large", api::Access::open, huge);
  }

  struct Case {
    std::string request;
    int status;
  };

  void expect_refused(std::vector<Case> const& cases) {
    start();
    for (auto const& [request, status] : cases) {
      TestClient client{port};
      client.send(request + get("/echo"));
      EXPECT_EQ(first_status(client), status) << request.substr(0, 200);
      EXPECT_EQ(client.read_to_end().find(" 200 OK"), std::string::npos) << request.substr(0, 200);
    }
  }

  static int first_status(TestClient& client) {
    try {
      auto const answer = client.read_answer();
      if (answer.status >= 400) {
        EXPECT_TRUE(answer.has("Connection: close\r\n")) << answer.head;
        EXPECT_TRUE(answer.body.starts_with(R"({"error":{"code":")")) << answer.body;
      }
      return answer.status;
    } catch (std::runtime_error const&) {
      return kClosed;
    }
  }

  static std::string post_with(std::string const& fields, std::string const& body) {
    return "POST /echo HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + body;
  }
};

TEST_F(HostileRequest, HTTP_6_AmbiguousLengthIsRefused) {
  std::string const chunks = "3\r\nabc\r\n0\r\n\r\n";
  expect_refused({
      {post_with("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", chunks), 400},
      {post_with("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", chunks), 400},
      {post_with("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), 400},
      {post_with("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), 400},
      {post_with("Content-Length: 3, 3\r\n", "abc"), 400},
      {post_with("Content-Length: 3, 4\r\n", "abc"), 400},
      {post_with("Content-Length: +3\r\n", "abc"), 400},
      {post_with("Content-Length: -3\r\n", "abc"), 400},
      {post_with("Content-Length: 0x3\r\n", "abc"), 400},
      {post_with("Content-Length: 3 3\r\n", "abc"), 400},
      {post_with("Content-Length: \r\n", "abc"), 400},
      {post_with("Content-Length: 18446744073709551619\r\n", "abc"), 400},
      {post_with("Transfer-Encoding: chunked, identity\r\n", chunks), 400},
      {post_with("Transfer-Encoding: identity\r\n", chunks), 400},
      {post_with("Transfer-Encoding: xchunked\r\n", chunks), 400},
      {post_with("Transfer-Encoding: chunked chunked\r\n", chunks), 400},
      {post_with("Transfer-Encoding: \"chunked\"\r\n", chunks), 400},
      {post_with("Transfer-Encoding:\r\n", chunks), 400},
      {post_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunks), 400},
      {post_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunks), 400},
      {post_with("Transfer-Encoding : chunked\r\n", chunks), 400},
      {post_with("Transfer-Encoding\t: chunked\r\n", chunks), 400},
      {post_with("Transfer-Encoding: \x0b"
                 "chunked\r\n",
                 chunks),
       400},
      {post_with("X: a\r\n Transfer-Encoding: chunked\r\n", chunks), 400},
      {post_with("X: a\nTransfer-Encoding: chunked\r\n", chunks), 400},
      {post_with("Transfer-Encoding: gzip, chunked\r\n", chunks), 501},
      {"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, 400},
  });
}

TEST_F(HostileRequest, HTTP_6_MalformedChunksAreRefused) {
  auto const chunked = [](std::string const& body) {
    return post_with("Transfer-Encoding: chunked\r\n", body);
  };
  expect_refused({
      {chunked("3\nabc\n0\n\n"), 400},
      {chunked("3\r\nabc0\r\n\r\n"), 400},
      {chunked("3\r\nabcd\r\n0\r\n\r\n"), 400},
      {chunked("-1\r\n"), 400},
      {chunked("0x3\r\nabc\r\n0\r\n\r\n"), 400},
      {chunked(" 3\r\nabc\r\n0\r\n\r\n"), 400},
      {chunked("\r\nabc\r\n0\r\n\r\n"), 400},
      {chunked("10000000000000003\r\nabc\r\n0\r\n\r\n"), 400},
      {chunked("ffffffffffffffff\r\nabc\r\n0\r\n\r\n"), 413},
      {chunked("7fffffff\r\nabc\r\n0\r\n\r\n"), 413},
      {chunked("3;a=b\nabc\r\n0\r\n\r\n"), 400},
      {chunked("3;\nabc\r\n0\r\n\r\n"), 400},
      {chunked("3;a=\"\n\"\r\nabc\r\n0\r\n\r\n"), 400},
      {chunked("3\r\nabc\r\n0\r\nX: y\n\r\n\r\n"), 400},
      {chunked("3\r\nabc\r\n0\n\n\r\n\r\n"), 400},
      {chunked("3\r\nabc\r\n0\r\nX: y\r\n z\r\n\r\n"), 400},
      {chunked("3\r\nabc\r\n0\r\nX: y\r\n\tz\r\n\r\n"), 400},
      {chunked("3\r\nabc\r\n0\r\n X: y\r\n\r\n"), 400},
      {chunked("3;" + std::string(100'000, 'x') + "\r\nabc\r\n0\r\n\r\n"), 400},
      {chunked("3;a=" + std::string(15'000, 'x') + "\r\nabc\r\n3;a=" + std::string(15'000, 'x') +
               "\r\nabc\r\n0\r\n\r\n"),
       400},
      {chunked("0\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n"), 400},
  });
}

TEST_F(HostileRequest, HTTP_6_OddHeadsAreRefused) {
  auto const with_host = [](std::string const& host) {
    return "GET /echo HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
  };
  auto const with_target = [](std::string const& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  expect_refused({
      {"GET /echo\r\n", 400},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"\x16\x03\x01\x02", 400},
      {"\r\n\r\n", 400},
      {"GET /echo HTTP/1.1\nHost: a\n\n", 400},
      {"GET /echo HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"s, 400},
      {"GET /echo HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", 400},
      {"GET /echo HTTP/1.1\r\nHost : a\r\n\r\n", 400},
      {with_host(""), 400},
      {with_host("a b"), 400},
      {with_host("a@b"), 400},
      {with_host("a/b"), 400},
      {with_host("a:b"), 400},
      {with_host("a:1:2"), 400},
      {with_host("a:123456"), 400},
      {with_host("[::1"), 400},
      {with_host("[::1]x"), 400},
      {with_host("a\xc3\xa9"), 400},
      {with_target("http://b/echo"), 400},
      {with_target("http://a@b/echo"), 400},
      {with_target("http:///echo"), 400},
      {with_target("http://a?q"), 400},
      {with_target("ftp://a/echo"), 400},
      {with_target("/echo#fragment"), 400},
      {with_target("/echo?q=1#fragment"), 400},
      {with_target("/echo\"<x>"), 400},
      {with_target("*"), 400},
      {with_target("echo"), 400},
      {with_target("*"), 400},
      {"CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 400},
  });
}

TEST_F(HostileRequest, UnusualButValidRequestsAreServed) {
  start();
  for (auto const& request : {
           post_with("Transfer-Encoding:\tchunked\r\n", "3\r\nabc\r\n0\r\n\r\n"),
           post_with("transfer-encoding: Chunked \t\r\n", "003\r\nabc\r\n0\r\n\r\n"),
           post_with("Transfer-Encoding: chunked\r\n", "3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n"),
           post_with("Transfer-Encoding: chunked\r\n", "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n"),
           post_with("Content-Length:3\r\nX-Text: \xc3\xa9\t!\r\n", "abc"),
           "POST http://A/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"s,
           "POST /echo HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 3\r\n\r\nabc"s,
           "POST /echo HTTP/1.1\r\nHost: my_host-1.example.:65535\r\nContent-Length: 3\r\n\r\nabc"s,
       }) {
    TestClient client{port};
    auto const answer = client.ask(request);
    EXPECT_EQ(answer.status, 200) << request;
    EXPECT_EQ(answer.body, "abc") << request;
  }
}

TEST_F(HostileRequest, HTTP_6_OnlyTheBeginningOfALargeHeadIsRead) {
  start();
  TestClient client{port};

  client.send("GET /echo HTTP/1.1\r\nHost: a\r\nX-Long: " + std::string(20'000, 'x'));  // The end is missing.

  EXPECT_EQ(client.read_answer().status, 431);
}

TEST_F(HostileRequest, HTTP_6_LargeBodyIsRefusedBeforeItComesAndWithoutContinue) {
  start();
  TestClient plain{port};
  TestClient expecting{port};

  EXPECT_EQ(plain.ask(post_with("Content-Length: 104857600\r\n", "")).status, 413);
  EXPECT_EQ(expecting.ask(post_with("Content-Length: 104857600\r\nExpect: 100-continue\r\n", "")).status,
            413);
}

TEST_F(HostileRequest, ClientThatHalfClosesStillGetsItsAnswers) {
  start();
  TestClient client{port};
  TestClient with_large_answer{port, {.receive_buffer_bytes = 8192}};

  client.send(post("/echo", "one") + post("/echo", "two"));
  client.half_close();
  with_large_answer.send(get("/large"));
  with_large_answer.half_close();

  EXPECT_EQ(client.read_answer().body, "one");
  EXPECT_EQ(client.read_answer().body, "two");
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_EQ(with_large_answer.read_answer().body.size(), 8'000'000u);
}

TEST_F(HostileRequest, HTTP_6_SecondHeadHasADeadlineOfItsOwn) {
  limits.header_deadline = 40ms;
  limits.idle_timeout = 60s;
  limits.stop_grace = 30ms;
  start();
  TestClient client{port};

  client.ask(post("/echo", "one"));
  client.send("POST /echo HT");

  EXPECT_EQ(client.read_answer().status, 408);
  EXPECT_EQ(client.read_to_end(), "");
}

TEST_F(HostileRequest, HTTP_6_TricklingDoesNotRenewADeadline) {
  limits.header_deadline = 100ms;
  limits.body_deadline = 100ms;
  limits.stop_grace = 30ms;
  start();
  TestClient head{port};
  TestClient body{port};
  head.send("GET /echo HTTP/1.1\r\nX: ");
  body.send(post_with("Content-Length: 1000\r\n", ""));

  for (int i = 0; i < 40; ++i) {
    head.send("x");
    body.send("x");
    std::this_thread::sleep_for(5ms);
  }

  EXPECT_EQ(head.read_answer().status, 408);
  EXPECT_EQ(body.read_answer().status, 408);
}

TEST_F(HostileRequest, HTTP_6_ReaderThatCrawlsIsCutThoughItNeverStands) {
  limits.write_timeout = 300ms;
  limits.min_read_rate = 80'000'000;  // The answer of 8 MB gets 100 ms more.
  start();
  TestClient client{port, {.receive_buffer_bytes = 4096}};
  client.send(get("/large"));
  std::size_t taken = 0;
  auto const begin = std::chrono::steady_clock::now();

  try {
    while (std::chrono::steady_clock::now() - begin < 5s) {
      taken += client.read_bytes(8192).size();
      std::this_thread::sleep_for(2ms);
    }
  } catch (std::runtime_error const&) {
  }

  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_LT(taken, 8'000'000u);
}

}  // namespace
}  // namespace runnel::http
