#include "runnel/http/connection/server.h"

#include <sys/socket.h>

#include <stdexcept>

#include "runnel/base/log/log.h"
#include "runnel/http/testing/test_server.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<api::Reply> echo(api::Request request) {
  co_return api::Response{200, "text/plain", request.body + "|" + request.query("q").value_or("-"), {}};
}

asio::awaitable<api::Reply> hello(api::Request request) {
  co_return api::json_response(200, "{\"hello\":\"" + request.param("name") + "\"}");
}

asio::awaitable<api::Reply> whoami(api::Request request) {
  co_return api::Response{200, "text/plain", request.user.text, {}};
}

asio::awaitable<api::Reply> broken(api::Request /*request*/) {
  throw std::runtime_error("a secret of the inside");
  co_return api::empty_response(204);
}

asio::awaitable<api::Reply> large(api::Request /*request*/) {
  co_return api::Response{200, "text/plain", std::string(3'000'000, 'x'), {}};
}

class HttpServer : public TestServer {
 protected:
  HttpServer() {
    router.add(api::Method::post, "/echo", api::Access::open, echo);
    router.add(api::Method::get, "/hello/{name}", api::Access::open, hello);
    router.add(api::Method::get, "/me", api::Access::user, whoami);
    router.add(api::Method::post, "/me", api::Access::user, whoami);
    router.add(api::Method::get, "/broken", api::Access::open, broken);
    router.add(api::Method::get, "/large", api::Access::open, large);
  }
};

TEST_F(HttpServer, OneConnectionCarriesSeveralRequests) {
  start();
  TestClient client{port};

  auto const first = client.ask(get("/hello/a"));
  auto const second = client.ask(post("/echo?q=1%2B1", "body"));

  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, R"({"hello":"a"})");
  EXPECT_TRUE(first.has("Content-Type: application/json\r\n"));
  EXPECT_EQ(second.body, "body|1+1");
}

// One end is served, the other end is the client's.
TEST_F(HttpServer, TOOL_2_ConnectionThatIsHandedOverIsServedWithoutAListener) {
  server = std::make_unique<Server>(cores, std::move(router), authenticator, options);
  server->start();
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  TestClient client{base::Descriptor{ends[1]}};

  ASSERT_TRUE(server->adopt(base::Descriptor{ends[0]}));
  auto const first = client.ask(get("/hello/a"));
  auto const second = client.ask(post("/echo", "body", "Connection: close\r\n"));

  EXPECT_EQ(first.body, R"({"hello":"a"})");
  EXPECT_EQ(second.body, "body|-");
  EXPECT_EQ(client.read_to_end(), "");
}

TEST_F(HttpServer, PipelinedRequestsAreAnsweredInOrder) {
  start();
  TestClient client{port};

  client.send(get("/hello/a") + post("/echo", "b") + get("/hello/c", "Connection: close\r\n"));

  EXPECT_EQ(client.read_answer().body, R"({"hello":"a"})");
  EXPECT_EQ(client.read_answer().body, "b|-");
  auto const last = client.read_answer();
  EXPECT_EQ(last.body, R"({"hello":"c"})");
  EXPECT_TRUE(last.has("Connection: close\r\n"));
  EXPECT_EQ(client.read_to_end(), "");
}

TEST_F(HttpServer, RequestThatArrivesByteByByteIsServed) {
  start();
  TestClient client{port};

  for (char const c : post("/echo", "slow"))
    client.send({&c, 1});

  EXPECT_EQ(client.read_answer().body, "slow|-");
}

TEST_F(HttpServer, ChunkedBodyIsJoined) {
  start();
  TestClient client{port};

  auto const answer = client.ask(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");

  EXPECT_EQ(answer.body, "abcde|-");
}

TEST_F(HttpServer, LargeAnswerArrivesWhole) {
  start();
  TestClient client{port, {.receive_buffer_bytes = 8192}};

  EXPECT_EQ(client.ask(get("/large")).body.size(), 3'000'000u);
}

TEST_F(HttpServer, HeadHasTheLengthAndNoBody) {
  start();
  TestClient client{port};

  client.send("HEAD /hello/abc HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

  auto const text = client.read_to_end();
  EXPECT_NE(text.find("Content-Length: 15\r\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\n\r\n"));
}

TEST_F(HttpServer, Http10ConnectionEndsWithItsAnswer) {
  start();
  TestClient client{port};

  client.send("GET /hello/a HTTP/1.0\r\n\r\n");

  auto const text = client.read_to_end();
  EXPECT_TRUE(text.starts_with("HTTP/1.0 200 OK\r\n")) << text;
  EXPECT_TRUE(text.ends_with(R"({"hello":"a"})"));
}

TEST_F(HttpServer, HTTP_2_UnknownAddressIsAProblemAndTheConnectionGoesOn) {
  start();
  TestClient client{port};

  auto const answer = client.ask(get("/nowhere"));

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body,
            R"({"error":{"code":"NOT_FOUND",)"
            R"("message":"This path does not exist; GET /openapi.json lists those that do.","details":{}}})");
  EXPECT_EQ(client.ask(get("/hello/a")).status, 200);
}

TEST_F(HttpServer, WrongMethodNamesTheRightOnes) {
  start();
  TestClient client{port};

  auto const answer = client.ask(get("/echo"));

  EXPECT_EQ(answer.status, 405);
  EXPECT_NE(answer.body.find("it takes POST."), std::string::npos) << answer.body;
  EXPECT_NE(answer.body.find(R"("details":{"allow":"POST"})"), std::string::npos) << answer.body;
  EXPECT_TRUE(answer.has("Allow: POST\r\n")) << answer.head;
}

TEST_F(HttpServer, HTTP_2_ClientsRequestIdIsKeptIfUsableAndMintedOtherwise) {
  start();
  TestClient client{port};

  EXPECT_TRUE(client.ask(get("/hello/a", "X-Request-Id: abc-1\r\n")).has("X-Request-Id: abc-1\r\n"));
  auto const minted = client.ask(get("/hello/a", "X-Request-Id: not usable\r\n"));
  EXPECT_FALSE(minted.has("not usable"));
  EXPECT_TRUE(minted.has("X-Request-Id: "));
}

TEST_F(HttpServer, HTTP_3_UserRouteNeedsAToken) {
  start();
  TestClient client{port};
  auto const token = authenticator->issue_token(UserId{"demo"}, 60s);

  auto const without = client.ask(get("/me"));
  auto const with = client.ask(get("/me", "Authorization: Bearer " + token + "\r\n"));
  auto const in_url = client.ask(get("/me?access_token=" + token));

  EXPECT_EQ(without.status, 401);
  EXPECT_TRUE(without.has("WWW-Authenticate: Bearer\r\n"));
  EXPECT_EQ(with.body, "demo");
  EXPECT_EQ(in_url.status, 400);
  EXPECT_NE(in_url.body.find("TOKEN_IN_URL"), std::string::npos);
}

TEST_F(HttpServer, RefusedBodyIsNotReadAndTheAnswerStillArrives) {
  start();
  TestClient client{port};

  auto const answer = client.ask(post("/me", std::string(2'000'000, 'x')));

  EXPECT_EQ(answer.status, 401);
  EXPECT_TRUE(answer.has("Connection: close\r\n"));
}

TEST_F(HttpServer, HTTP_6_LargeBodyIsRefusedBySizeHoweverItComes) {
  limits.body_bytes = 1000;
  start();
  std::string const chunks = "1ff\r\n" + std::string(0x1ff, 'x') + "\r\n";

  TestClient declared{port};
  TestClient chunked{port};
  TestClient fitting{port};

  EXPECT_EQ(declared.ask(post("/echo", std::string(1001, 'x'))).status, 413);
  EXPECT_EQ(chunked
                .ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks +
                     chunks + "0\r\n\r\n")
                .status,
            413);
  EXPECT_EQ(fitting.ask(post("/echo", std::string(1000, 'x'))).status, 200);
}

TEST_F(HttpServer, MalformedRequestsAreRefusedAndTheConnectionCloses) {
  start();
  for (std::string const& request : {
           std::string{"nonsense\r\n\r\n"},
           std::string{"GET /hello/a HTTP/1.1\r\n\r\n"},                                    // No Host.
           std::string{"GET /hello/a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},              // Two Hosts.
           std::string{"GET hello HTTP/1.1\r\nHost: a\r\n\r\n"},                            // No path.
           std::string{"GET /hello/%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"},  // Bad encoding.
           std::string{"GET /hello/%00 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"},  // NUL.
           std::string{"GET /hello/a?q=%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"},    //
           std::string{"GET /hello/a?q=1&q=2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"},  // Repeated.
           std::string{"GET /hello/a HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n"},                 //
           std::string{"GET /hello/a HTTP/1.1\nHost: a\n\n"},                                     // Bare LF.
           std::string{"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: "
                       "chunked\r\n\r\nabc"},
           std::string{
               "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"},
           std::string{"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"},
           std::string{"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"},
       }) {
    TestClient client{port};
    auto const answer = client.ask(request);
    EXPECT_EQ(answer.status, 400) << request;
    EXPECT_TRUE(answer.body.starts_with(R"({"error":{"code":")")) << request;
    client.close();
  }
}

TEST_F(HttpServer, UnknownTransferEncodingAndExpectationAreRefused) {
  start();
  TestClient encoded{port};
  TestClient expecting{port};

  EXPECT_EQ(encoded.ask("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n").status,
            501);
  EXPECT_EQ(expecting.ask(post("/echo", "x", "Expect: miracles\r\n")).status, 417);
}

TEST_F(HttpServer, LargeHeadersAreRefused) {
  start();
  TestClient client{port};

  auto const answer = client.ask(get("/hello/a", "X-Long: " + std::string(17'000, 'x') + "\r\n"));

  EXPECT_EQ(answer.status, 431);
}

TEST_F(HttpServer, ClientThatExpectsContinueIsToldTo) {
  start();
  TestClient client{port};
  client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");

  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hi");

  EXPECT_EQ(client.read_answer().body, "hi|-");
}

TEST_F(HttpServer, HTTP_2_ExceptionBecomesAProblemWithoutItsText) {
  start();
  TestClient client{port};
  testing::internal::CaptureStderr();

  auto const answer = client.ask(get("/broken", "X-Request-Id: find-me\r\n"));

  auto const log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body.find("secret"), std::string::npos);
  EXPECT_NE(log.find("request_id=find-me"), std::string::npos) << log;
  EXPECT_NE(log.find("a secret of the inside"), std::string::npos) << log;
}

TEST_F(HttpServer, CFG_4_RequestIsOneLogLineWithoutItsQuery) {
  start();
  testing::internal::CaptureStderr();
  base::start_logging({base::LogLevel::info, base::LogFormat::human});

  TestClient{port}.ask(get("/hello/a?ticket=hush", "X-Request-Id: one\r\n"));

  base::stop_logging();
  auto const log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("request request_id=one method=GET path=/hello/a status=200 ms="), std::string::npos)
      << log;
  EXPECT_EQ(log.find("hush"), std::string::npos);
}

TEST_F(HttpServer, SlowHeadAndSlowBodyRunIntoTheirDeadlines) {
  limits.header_deadline = 30ms;
  limits.body_deadline = 30ms;
  limits.stop_grace = 30ms;
  start();
  TestClient silent{port};
  TestClient slow_head{port};
  TestClient slow_body{port};

  slow_head.send("GET /hello/a HT");
  slow_body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");

  EXPECT_EQ(silent.read_to_end(), "");
  EXPECT_EQ(slow_head.read_answer().status, 408);
  EXPECT_EQ(slow_body.read_answer().status, 408);
  EXPECT_EQ(slow_head.read_to_end() + slow_body.read_to_end(), "");
}

TEST_F(HttpServer, IdleConnectionIsClosed) {
  limits.idle_timeout = 30ms;
  start();
  TestClient client{port};

  client.ask(get("/hello/a"));

  EXPECT_EQ(client.read_to_end(), "");
}

TEST_F(HttpServer, ReaderThatStandsStillIsGivenUp) {
  limits.write_timeout = 50ms;
  limits.stop_grace = 60s;
  start();
  TestClient client{port, {.receive_buffer_bytes = 4096}};
  client.send(get("/large"));
  client.read_head();
  auto const before = std::chrono::steady_clock::now();

  server->stop();

  EXPECT_LT(std::chrono::steady_clock::now() - before, 30s);
  EXPECT_LT(client.read_to_end().size(), 3'000'000u);
}

TEST_F(HttpServer, StopClosesIdleAndHalfReadConnections) {
  start();
  TestClient idle{port};
  idle.ask(get("/hello/a"));
  TestClient half{port};
  half.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");

  auto const before = std::chrono::steady_clock::now();
  server->stop();

  EXPECT_LT(std::chrono::steady_clock::now() - before, 1s);  // Sooner than any of their deadlines.
  EXPECT_EQ(idle.read_to_end(), "");
  EXPECT_EQ(half.read_to_end(), "");
  EXPECT_FALSE(TestClient{port}.connected());
}

TEST_F(HttpServer, StopAcceptingLeavesOpenConnectionsServed) {
  start();
  TestClient client{port};
  client.ask(get("/hello/a"));

  server->stop_accepting();

  EXPECT_EQ(client.ask(get("/hello/b")).status, 200);
  EXPECT_FALSE(TestClient{port}.connected());
}

TEST_F(HttpServer, StopMayBeRepeatedAndMayComeBeforeListen) {
  Server unused{cores, api::Router{}, authenticator, {}};
  unused.stop();
  start();

  server->stop();
  server->stop();
}

TEST_F(HttpServer, PortInUseAndBadHostAreErrorsForTheOperator) {
  start();
  Server second{cores, api::Router{}, authenticator, {"127.0.0.1", port, {}}};
  Server nowhere{cores, api::Router{}, authenticator, {"no.such.host", 0, {}}};

  EXPECT_EQ(second.listen().error().code, Errc::conflict);
  EXPECT_EQ(nowhere.listen().error().code, Errc::invalid);
}

}  // namespace
}  // namespace runnel::http
