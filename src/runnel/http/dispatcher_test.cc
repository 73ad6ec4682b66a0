#include "runnel/http/dispatcher.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runnel/api/testing/run_handler.h"
#include "runnel/http/request_refusals.h"
#include "runnel/http/testing/test_authenticator.h"
#include "runnel/http/testing/test_feed.h"
#include "tests/support/run_async.h"

namespace runnel::http {
namespace {

using namespace std::chrono_literals;

boost::asio::awaitable<api::Reply> tell(api::Request request) {
  co_return api::Response{200, "text/plain", request.user.text + ":" + request.param("id"), {}};
}

boost::asio::awaitable<api::Reply> fail(api::Request /*request*/) {
  throw 7;
  co_return api::empty_response(204);
}

boost::asio::awaitable<api::Reply> tell_nothing(api::Request /*request*/) {
  co_return api::empty_response(204);
}

int runs_started = 0;

boost::asio::awaitable<api::Reply> start_stream(api::Request /*request*/) {
  ++runs_started;
  co_return std::make_unique<EmptyFeed>();
}

api::Router routes() {
  api::Router router;
  router.add(api::Method::get, "/things/{id}", api::Access::user, tell);
  router.add(api::Method::get, "/fail", api::Access::open, fail);
  router.add(api::Method::post, "/stream", api::Access::user, start_stream,
             {.answers = api::Answers::as_streams});
  return router;
}

class DispatcherTest : public testing::Test {
 protected:
  api::Request request(std::string path) {
    api::Request out;
    out.method = api::Method::get;
    out.path = std::move(path);
    out.headers = {{"Authorization", "Bearer " + authenticator->issue_token(UserId{"demo"}, 60s)}};
    return out;
  }
  int refusal(api::Request asked) { return std::get<api::Response>(dispatcher.admit(asked)).status; }

  base::SystemClock clock;
  std::shared_ptr<Authenticator const> authenticator =
      std::make_shared<Authenticator const>(test_authenticator(clock));
  api::Reply answer(api::Request asked) {
    auto const* route = std::get<api::Route const*>(dispatcher.admit(asked));
    return api::run_handler(dispatcher.answer(route, std::move(asked)));
  }

  Dispatcher dispatcher{routes(), authenticator, {{1, 5, 2}, Cors{{"https://app.example.com"}}}};
};

std::unique_ptr<EventFeed> feed_of(api::Reply reply) {
  return take_feed(std::move(std::get<std::unique_ptr<api::EventStream>>(reply)));
}

std::string reason_in(api::Response const& response) {
  auto const error = boost::json::parse(response.body).at("error");
  return std::string{error.at("details").at("reason").as_string()};
}

TEST_F(DispatcherTest, HTTP_3_A401SaysWhatTheClientCanDo) {
  auto missing = request("/things/a");
  missing.headers.clear();
  auto invalid = request("/things/a");
  invalid.headers = {{"Authorization", "Bearer x"}};
  auto expired = request("/things/a");
  expired.headers = {{"Authorization", "Bearer " + authenticator->issue_token(UserId{"demo"}, 0s)}};

  EXPECT_EQ(reason_in(std::get<api::Response>(dispatcher.admit(missing))), "missing");
  EXPECT_EQ(reason_in(std::get<api::Response>(dispatcher.admit(invalid))), "invalid");
  EXPECT_EQ(reason_in(std::get<api::Response>(dispatcher.admit(expired))), "expired");
  for (auto const reason :
       {Unidentified::Reason::missing, Unidentified::Reason::invalid, Unidentified::Reason::expired}) {
    EXPECT_NE(not_authenticated(reason).body.find("Authorization: Bearer <token>"), std::string::npos);
  }
}

TEST_F(DispatcherTest, HTTP_6_UserAboveTheRateIsToldWhenToRetry) {
  for (int i = 0; i < 5; ++i) {
    auto asked = request("/things/a");
    ASSERT_TRUE(std::holds_alternative<api::Route const*>(dispatcher.admit(asked)));
  }
  auto asked = request("/things/a");
  auto const response = std::get<api::Response>(dispatcher.admit(asked));

  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.headers.back(), (std::pair<std::string, std::string>{"Retry-After", "1"}));
  auto other = request("/things/a");
  other.headers = {{"Authorization", "Bearer " + authenticator->issue_token(UserId{"other"}, 60s)}};
  EXPECT_TRUE(std::holds_alternative<api::Route const*>(dispatcher.admit(other)));
}

TEST_F(DispatcherTest, HTTP_6_StreamAboveTheLimitStartsNoRun) {
  auto asked = request("/stream");
  asked.method = api::Method::post;
  runs_started = 0;
  auto first = answer(asked);
  auto const second = answer(asked);

  EXPECT_EQ(std::get<api::Response>(answer(asked)).status, 429);
  EXPECT_EQ(runs_started, 2);
  first = api::Reply{};
  EXPECT_TRUE(std::holds_alternative<std::unique_ptr<api::EventStream>>(answer(asked)));
}

TEST_F(DispatcherTest, HTTP_8_PreflightIsAnsweredWithoutAToken) {
  api::Request asked;
  asked.method = api::Method::options;
  asked.path = "/things/a";
  asked.headers = {{"Origin", "https://app.example.com"}, {"Access-Control-Request-Method", "GET"}};

  EXPECT_EQ(refusal(asked), 204);
  asked.headers[0].second = "https://evil.example";
  EXPECT_EQ(refusal(asked), 403);
  asked.path = "/none";
  EXPECT_EQ(refusal(asked), 404);
}

TEST_F(DispatcherTest, HandlerGetsUserAndParameters) {
  auto asked = request("/things/a%20b");

  auto const* route = std::get<api::Route const*>(dispatcher.admit(asked));
  auto const reply = api::run_handler(dispatcher.answer(route, std::move(asked)));

  EXPECT_EQ(std::get<api::Response>(reply).body, "demo:a b");
}

TEST_F(DispatcherTest, HeadAloneDecidesRefusals) {
  auto anonymous = request("/things/a");
  anonymous.headers.clear();
  auto ambiguous = request("/things/a");
  ambiguous.query_items = {{"x", "1"}, {"x", "2"}};
  auto wrong = request("/things/a");
  wrong.method = api::Method::post;

  EXPECT_EQ(refusal(anonymous), 401);
  EXPECT_EQ(refusal(ambiguous), 400);
  EXPECT_EQ(refusal(wrong), 405);
  EXPECT_EQ(refusal(request("/none")), 404);
  EXPECT_EQ(refusal(request("/things/%zz")), 400);
}

// Asks for something that its operation does not declare, or answers with a status that it does not declare.
boost::asio::awaitable<api::Reply> stray(api::Request request) {
  auto const status = request.query("status").value_or("200");
  if (status == "query") (void)request.query("secret");
  if (status == "json") (void)request.json();
  co_return api::empty_response(std::stoi(status));
}

class ContractedDispatcher : public testing::Test {
 protected:
  static api::Router routes() {
    api::Router router{
        std::make_shared<api::OpenApiContract const>(R"({"openapi":"3.0.3","paths":{"/stray":{"get":{
      "operationId":"stray","security":[],"parameters":[{"name":"status","in":"query"}],
      "responses":{"200":{"description":"x"},"400":{"description":"x"},"500":{"description":"x"}}}}}})")};
    router.add(api::Method::get, "/stray", api::Access::open, stray);
    return router;
  }
  // The status of the answer, and what was logged meanwhile.
  std::pair<int, std::string> ask(std::string status, std::string body = "") {
    api::Request asked;
    asked.method = api::Method::get;
    asked.path = "/stray";
    asked.query_items = {{"status", std::move(status)}};
    asked.body = std::move(body);
    auto const* route = std::get<api::Route const*>(dispatcher.admit(asked));
    testing::internal::CaptureStderr();
    auto const reply = api::run_handler(dispatcher.answer(route, std::move(asked)));
    return {std::get<api::Response>(reply).status, testing::internal::GetCapturedStderr()};
  }

  base::SystemClock clock;
  Dispatcher dispatcher{routes(), std::make_shared<Authenticator const>(test_authenticator(clock))};
};

TEST_F(ContractedDispatcher, HTTP_7_AnUndeclaredStatusIsLoggedAndCounted) {
  EXPECT_EQ(ask("200"), (std::pair<int, std::string>{200, ""}));
  EXPECT_EQ(dispatcher.undeclared_answers(), 0U);

  auto const [status, log] = ask("418");

  EXPECT_EQ(status, 418);
  EXPECT_NE(log.find("undeclared status"), std::string::npos) << log;
  EXPECT_EQ(dispatcher.undeclared_answers(), 1U);
}

TEST_F(ContractedDispatcher, HTTP_7_AskingForWhatIsNotDeclaredIsABug) {
  EXPECT_EQ(ask("query").first, 500);
  EXPECT_NE(ask("query").second.find("no query parameter secret"), std::string::npos);
  EXPECT_EQ(ask("json").first, 500);
}

TEST_F(ContractedDispatcher, HTTP_1_ABodyIsCheckedBeforeTheHandlerIsCalled) {
  EXPECT_EQ(ask("200", "x").first, 400);
}

TEST_F(DispatcherTest, AnythingThrownIsA500) {
  auto asked = request("/fail");
  auto const* route = std::get<api::Route const*>(dispatcher.admit(asked));
  testing::internal::CaptureStderr();

  auto const reply = api::run_handler(dispatcher.answer(route, std::move(asked)));

  EXPECT_EQ(std::get<api::Response>(reply).status, 500);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("unknown type"), std::string::npos);
}

// Otherwise anyone could hold a connection with a body that never comes.
TEST_F(DispatcherTest, HTTP_6_BodyThatIsOfNoUseIsNotWaitedFor) {
  api::Router router;
  router.add_beside_contract(api::Method::get, "/file", tell);
  Dispatcher files{std::move(router), authenticator};
  auto const status = [&files](api::Pairs headers) {
    api::Request asked;
    asked.method = api::Method::get;
    asked.path = "/file";
    asked.headers = std::move(headers);
    auto const decision = files.admit(asked);
    auto const* refusal = std::get_if<api::Response>(&decision);
    return refusal != nullptr ? refusal->status : 200;
  };

  EXPECT_EQ(status({}), 200);
  EXPECT_EQ(status({{"Content-Length", "0"}}), 200);
  EXPECT_EQ(status({{"Content-Length", "1025"}}), 400);
  EXPECT_EQ(status({{"Content-Length", "99999999999999999999"}}), 400);
}

TEST_F(DispatcherTest, HTTP_1_RouteThatNeedsNoBodyTakesAnEmptyOne) {
  api::Router router;
  router.add_beside_contract(api::Method::get, "/file", tell_nothing);
  Dispatcher files{std::move(router), authenticator};
  auto const status = [&files](std::string body) {
    api::Request asked;
    asked.method = api::Method::get;
    asked.path = "/file";
    auto const* route = std::get<api::Route const*>(files.admit(asked));
    asked.body = std::move(body);
    return std::get<api::Response>(api::run_handler(files.answer(route, std::move(asked)))).status;
  };

  for (auto const* body : {"", "{}", " { }\n"})
    EXPECT_EQ(status(body), 204) << body;
  for (auto const* body : {" ", "[]", "null", "{\"a\":1}", "{}{}", "x"})
    EXPECT_EQ(status(body), 400) << body;
}

TEST_F(DispatcherTest, OptionsOfTheWholeServer) {
  api::Request asked;
  asked.method = api::Method::options;
  asked.path = "*";

  EXPECT_EQ(refusal(std::move(asked)), 204);
}

// A request that counts as several is let in, and those after it wait longer.
TEST_F(DispatcherTest, HTTP_9_TheRateIsOneOfBytesToo) {
  auto asked = request("/things/1");
  asked.headers.emplace_back("Content-Length", std::to_string(5 * 64 * 1024));
  EXPECT_EQ(std::get<api::Route const*>(dispatcher.admit(asked))->pattern, "/things/{id}");

  EXPECT_EQ(refusal(request("/things/1")), 429);
}

// Gives pages of the log without end, for a reader that does not read.
class PagedFeed final : public EventFeed {
 public:
  boost::asio::awaitable<FeedStep> next(std::shared_ptr<stream::Subscriber> /*reader*/) override {
    co_return FeedStep{FeedStep::Kind::frames, stream::share({std::string(150'000, 'x'), {}})};
  }
  [[nodiscard]] RunNames const& run() const override { return run_; }
  [[nodiscard]] Wire wire() const override { return Wire{}; }

 private:
  RunNames run_;
};

boost::asio::awaitable<api::Reply> start_pages(api::Request /*request*/) {
  co_return std::make_unique<PagedFeed>();
}

FeedStep::Kind next_of(EventFeed& feed) {
  return run_async(feed.next(nullptr)).kind;
}

TEST_F(DispatcherTest, HTTP_9_PagesThatWaitForAUsersReadersAreBounded) {
  api::Router router;
  router.add(api::Method::post, "/pages", api::Access::user, start_pages,
             {.answers = api::Answers::as_streams});
  DispatcherOptions options{{100, 100, 100, 1, 1, 400'000}};
  options.page_wait = 100ms;
  Dispatcher pages{std::move(router), authenticator, std::move(options)};
  auto const open = [&](std::string const& user) {
    api::Request asked;
    asked.method = api::Method::post;
    asked.path = "/pages";
    asked.headers = {{"Authorization", "Bearer " + authenticator->issue_token(UserId{user}, 60s)}};
    auto const* route = std::get<api::Route const*>(pages.admit(asked));
    return api::run_handler(pages.answer(route, std::move(asked)));
  };
  std::vector<std::unique_ptr<EventFeed>> feeds;
  for (int i = 0; i < 2; ++i) {
    feeds.push_back(feed_of(open("demo")));
    EXPECT_EQ(next_of(*feeds.back()), FeedStep::Kind::frames);
  }

  auto waiting = feed_of(open("demo"));
  EXPECT_EQ(next_of(*waiting), FeedStep::Kind::reconnect);
  waiting.reset();
  EXPECT_EQ(next_of(*feed_of(open("other"))), FeedStep::Kind::frames);
  EXPECT_FALSE(feeds[0]->hold_backlog(400'000));
  EXPECT_TRUE(feeds[0]->hold_backlog(1000));

  // There is room for one page: the next stream takes it, and the first has to reconnect.
  auto third = feed_of(open("demo"));
  EXPECT_EQ(next_of(*third), FeedStep::Kind::frames);
  EXPECT_EQ(next_of(*feeds[0]), FeedStep::Kind::reconnect);
  third.reset();
  EXPECT_EQ(next_of(*feeds[0]), FeedStep::Kind::frames);
}

}  // namespace
}  // namespace runnel::http
