#include "runnel/http/dispatcher.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "runnel/http/run_handler.h"

namespace runnel::http {
namespace {

using namespace std::chrono_literals;

boost::asio::awaitable<Reply> tell(Request request) {
  co_return Response{200, "text/plain", request.user.text + ":" + request.param("id"), {}};
}

boost::asio::awaitable<Reply> fail(Request /*request*/) {
  throw 7;
  co_return empty_response(204);
}

Router routes() {
  Router router;
  router.add(Method::get, "/things/{id}", Access::user, tell);
  router.add(Method::get, "/fail", Access::open, fail);
  return router;
}

class DispatcherTest : public testing::Test {
 protected:
  Request request(std::string path) {
    Request out;
    out.method = Method::get;
    out.path = std::move(path);
    out.headers = {{"Authorization", "Bearer " + authenticator->issue_token(UserId{"demo"}, 60s)}};
    return out;
  }
  int refusal(Request asked) { return std::get<Response>(dispatcher.admit(asked)).status; }

  base::SystemClock clock;
  std::shared_ptr<Authenticator const> authenticator =
      std::make_shared<Authenticator const>(std::string(32, 'k'), clock);
  Dispatcher dispatcher{routes(), authenticator};
};

TEST_F(DispatcherTest, HandlerGetsUserAndParameters) {
  auto asked = request("/things/a%20b");

  auto const* route = std::get<Route const*>(dispatcher.admit(asked));
  auto const reply = run_handler(dispatcher.answer(route, std::move(asked)));

  EXPECT_EQ(std::get<Response>(reply).body, "demo:a b");
}

TEST_F(DispatcherTest, HeadAloneDecidesRefusals) {
  auto anonymous = request("/things/a");
  anonymous.headers.clear();
  auto ambiguous = request("/things/a");
  ambiguous.query_items = {{"x", "1"}, {"x", "2"}};
  auto wrong = request("/things/a");
  wrong.method = Method::post;

  EXPECT_EQ(refusal(anonymous), 401);
  EXPECT_EQ(refusal(ambiguous), 400);
  EXPECT_EQ(refusal(wrong), 405);
  EXPECT_EQ(refusal(request("/none")), 404);
  EXPECT_EQ(refusal(request("/things/%zz")), 400);
}

TEST_F(DispatcherTest, AnythingThrownIsA500) {
  auto asked = request("/fail");
  auto const* route = std::get<Route const*>(dispatcher.admit(asked));
  testing::internal::CaptureStderr();

  auto const reply = run_handler(dispatcher.answer(route, std::move(asked)));

  EXPECT_EQ(std::get<Response>(reply).status, 500);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no known type"), std::string::npos);
}

}  // namespace
}  // namespace runnel::http
