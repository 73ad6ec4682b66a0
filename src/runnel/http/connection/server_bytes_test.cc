#include <boost/beast/core/flat_buffer.hpp>

#include <chrono>
#include <deque>
#include <string>
#include <thread>

#include "runnel/http/connection/request_parser.h"
#include "runnel/http/testing/test_server.h"

namespace runnel::http {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<api::Reply> tell_size(api::Request request) {
  co_return api::Response{200, "text/plain", std::to_string(request.body.size()), {}};
}

asio::awaitable<api::Reply> large_answer(api::Request /*request*/) {
  co_return api::Response{200, "text/plain", std::string(8'000'000, 'x'), {}};
}

// HTTP-9: the bytes in flight are bounded, and a request above a limit is refused before its body is read.
class ServerBytes : public TestServer {
 protected:
  ServerBytes() {
    router.add(api::Method::post, "/runs", api::Access::user, tell_size, {.bodies = api::Bodies::messages});
    router.add(api::Method::post, "/title", api::Access::user, tell_size);
    router.add(api::Method::get, "/large", api::Access::user, large_answer, {.answer_bytes = 1'000'000});
    router.add_beside_contract(api::Method::get, "/page", tell_size);
  }

  std::string bearer(std::string const& user) const {
    return "Authorization: Bearer " + authenticator->issue_token(UserId{user}, 60s) + "\r\n";
  }
  std::string post_as(std::string const& user, std::string const& path, std::string const& body) const {
    return post(path, body, bearer(user));
  }
  std::string chunked_as(std::string const& user, std::string const& path) const {
    return "POST " + path + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n" + bearer(user) + "\r\n";
  }
  // Sends the request without its last byte; the server has its head when this returns.
  void withhold(TestClient& client, std::string const& request) const {
    client.send(request.substr(0, request.size() - 1));
    std::this_thread::sleep_for(50ms);
  }
};

TEST_F(ServerBytes, HTTP_9_BodiesOfOneUserInFlightAreBounded) {
  options.user_limits.body_bytes = 200'000;
  start();
  auto const body = std::string(150'000, 'x');
  TestClient slow{port};
  withhold(slow, post_as("ada", "/runs", body));

  // The head alone decides: hardly anything of the body is sent.
  TestClient second{port};
  auto const refused = second.ask(post_as("ada", "/runs", body).substr(0, 300));
  EXPECT_EQ(refused.status, 429);
  EXPECT_TRUE(refused.has("Retry-After: 1\r\n"));
  EXPECT_NE(refused.body.find("TOO_MANY_BODY_BYTES"), std::string::npos) << refused.body;
  EXPECT_NE(refused.body.find("\"limitBytes\":200000"), std::string::npos) << refused.body;
  EXPECT_EQ(TestClient{port}.ask(post_as("bob", "/runs", body)).body, "150000");

  slow.send("x");
  EXPECT_EQ(slow.read_answer().body, "150000");
  EXPECT_EQ(TestClient{port}.ask(post_as("ada", "/runs", body)).body, "150000");
}

TEST_F(ServerBytes, HTTP_9_BodiesOfAllInFlightAreBounded) {
  options.user_limits.all_body_bytes = 200'000;
  start();
  auto const body = std::string(150'000, 'x');
  TestClient slow{port};
  withhold(slow, post_as("ada", "/runs", body));

  auto const refused = TestClient{port}.ask(post_as("bob", "/runs", body));

  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.has("Retry-After: 1\r\n"));
  EXPECT_NE(refused.body.find("SERVER_BUSY"), std::string::npos) << refused.body;
}

TEST_F(ServerBytes, HTTP_9_SmallBodiesComeInWhateverLargeOnesAreInFlight) {
  options.user_limits.all_body_bytes = 200'000;
  start();
  TestClient slow{port};
  withhold(slow, post_as("ada", "/runs", std::string(200'000, 'x')));

  EXPECT_EQ(TestClient{port}.ask(post_as("bob", "/runs", std::string(65'536, 'x'))).body, "65536");
  EXPECT_EQ(TestClient{port}.ask(post_as("bob", "/runs", std::string(65'537, 'x'))).status, 503);
}

TEST_F(ServerBytes, HTTP_9_BodyInChunksTakesItsBytesAsItGrows) {
  options.user_limits.body_bytes = 200'000;
  start();
  auto const chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  TestClient slow{port};
  withhold(slow, post_as("ada", "/runs", std::string(100'000, 'x')));

  TestClient small{port};
  EXPECT_EQ(small.ask(chunked_as("ada", "/runs") + "3\r\nabc\r\n0\r\n\r\n").body, "3");
  TestClient growing{port};
  EXPECT_EQ(growing.ask(chunked_as("ada", "/runs") + chunk + chunk + chunk).status, 429);
  TestClient others{port};
  EXPECT_EQ(others.ask(chunked_as("bob", "/runs") + chunk + chunk + chunk + "0\r\n\r\n").body, "196608");
}

TEST_F(ServerBytes, HTTP_9_BodyWithoutAMessageIsSmall) {
  start();
  auto const chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";

  EXPECT_EQ(TestClient{port}.ask(post_as("ada", "/title", std::string(65'536, 'x'))).body, "65536");
  auto const refused =
      TestClient{port}.ask(post_as("ada", "/title", std::string(65'537, 'x')).substr(0, 300));
  EXPECT_EQ(refused.status, 413);
  EXPECT_NE(refused.body.find("\"limitBytes\":65536"), std::string::npos) << refused.body;
  EXPECT_EQ(TestClient{port}.ask(chunked_as("ada", "/title") + chunk + "1\r\nx\r\n").status, 413);
}

TEST_F(ServerBytes, HTTP_9_AnswersInFlightToOneUserAreBounded) {
  options.user_limits.answer_bytes = 10'000'000;
  start();
  TestClient slow{port, {.receive_buffer_bytes = 4096}};
  slow.send(get("/large", bearer("ada")));
  slow.read_head();

  EXPECT_EQ(TestClient{port}.ask(get("/large", bearer("ada"))).status, 200) << "there is room to make it";
  TestClient slower{port, {.receive_buffer_bytes = 4096}};
  slower.send(get("/large", bearer("ada")));
  slower.read_head();
  auto const third = TestClient{port}.ask(get("/large", bearer("ada")));
  EXPECT_EQ(third.status, 429);
  EXPECT_TRUE(third.has("Retry-After: 1\r\n"));
  EXPECT_NE(third.body.find("TOO_MANY_ANSWER_BYTES"), std::string::npos) << third.body;
  EXPECT_EQ(TestClient{port}.ask(get("/large", bearer("bob"))).status, 200);

  slow.close();
  slower.close();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(TestClient{port}.ask(get("/large", bearer("ada"))).status, 200);
}

TEST_F(ServerBytes, HTTP_1_RouteThatNeedsNoBodyTakesAnEmptyOne) {
  start();
  std::string const head = "GET /page HTTP/1.1\r\nHost: a\r\n";
  TestClient client{port};

  EXPECT_EQ(client.ask(head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n").body, "0");
  EXPECT_EQ(client.ask(head + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n").body, "2");
  EXPECT_EQ(client.ask(head + "Content-Length: 2\r\n\r\n{}").body, "2");
  EXPECT_EQ(client.ask(head + "Content-Length: 2\r\n\r\n[]").status, 400);
  EXPECT_EQ(client.ask(head + "Content-Length: 1025\r\n\r\n").status, 400);
  EXPECT_EQ(TestClient{port}.ask(head + "Transfer-Encoding: chunked\r\n\r\nffff\r\n").status, 400);
}

// Anyone may ask for a page. A client that never sends its body must not keep others out.
TEST_F(ServerBytes, HTTP_6_NobodyHoldsAConnectionWithABodyThatIsOfNoUse) {
  limits.stop_grace = 1s;
  limits.max_connections = 8;
  start();
  std::string const owing = "GET /page HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

  {
    TestClient alone{port};
    EXPECT_EQ(alone.ask(owing).status, 408);
  }
  std::deque<TestClient> crowd;
  for (int i = 0; i < 4; ++i) {
    crowd.emplace_back(port).send(owing);
    std::this_thread::sleep_for(30ms);
  }
  TestClient last{port};
  EXPECT_EQ(last.ask(owing).status, 400) << "with so many connections open the server does not wait";
}

TEST_F(ServerBytes, OptionsOfTheWholeServer) {
  start();
  TestClient client{port};

  auto const answer = client.ask("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");

  EXPECT_EQ(answer.status, 204);
  EXPECT_TRUE(answer.has("Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n")) << answer.head;
  EXPECT_EQ(client.ask(get("/page")).status, 200);
}

TEST(RequestParserTest, HTTP_9_NoRoomIsTakenForWhatHasNotArrived) {
  Limits const limits;
  RequestParser parser{limits};
  boost::beast::flat_buffer buffer;
  std::string const bytes = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\nabc";
  buffer.commit(asio::buffer_copy(buffer.prepare(bytes.size()), asio::buffer(bytes)));

  ASSERT_FALSE(parser.put_head(buffer));
  ASSERT_FALSE(parser.put_body(buffer));

  EXPECT_EQ(parser.body_size(), 3U);
  EXPECT_LT(parser.take_body().capacity(), 1024U);
}

}  // namespace
}  // namespace runnel::http
