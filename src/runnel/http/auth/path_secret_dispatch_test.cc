#include <gtest/gtest.h>

#include <stdexcept>

#include "runnel/api/testing/run_handler.h"
#include "runnel/base/testing/chosen_clock.h"
#include "runnel/http/dispatcher.h"
#include "runnel/http/testing/test_authenticator.h"
#include "tests/support/run_async.h"

// Routes whose path has a secret that stands for a user (TOOL-12).
namespace runnel::http {
namespace {

boost::asio::awaitable<api::Reply> tell_whose(api::Request request) {
  co_return api::Response{200, "text/plain", request.user.text, {}};
}

boost::asio::awaitable<Result<UserId>> owner_of_path(api::Pairs params) {
  auto const& secret = params.front().second;
  if (secret == "broken") throw std::runtime_error{"the owner cannot be found"};
  if (secret == "later") co_return Error{Errc::unavailable, "not now"};
  if (secret != "cal_of_ann") co_return Error{Errc::not_found, "no such secret"};
  co_return UserId{"ann"};
}

api::Router secret_routes() {
  api::Router router;
  router.add(api::Method::get, "/feeds/{feed}", api::Access::path_secret, tell_whose,
             {.owner_of = &owner_of_path});
  return router;
}

class PathSecret : public testing::Test {
 protected:
  static api::Request request(std::string path) {
    api::Request out;
    out.method = api::Method::get;
    out.path = std::move(path);
    return out;
  }
  api::Response answer(api::Request& asked) {
    auto admitted = dispatcher.admit(asked);
    if (auto* refusal = std::get_if<api::Response>(&admitted)) return std::move(*refusal);
    auto const* route = std::get<api::Route const*>(admitted);
    auto refusal = run_async(dispatcher.redeem(route, &asked));
    if (refusal) return std::move(*refusal);
    return std::get<api::Response>(api::run_handler(dispatcher.answer(route, asked)));
  }
  api::Response get(std::string path) {
    auto asked = request(std::move(path));
    return answer(asked);
  }

  base::ChosenClock clock;
  std::shared_ptr<Authenticator const> authenticator =
      std::make_shared<Authenticator const>(test_authenticator(clock));
  Dispatcher dispatcher{secret_routes(), authenticator, {{1, 3, 2}}};
};

TEST_F(PathSecret, TOOL_12_SecretStandsForItsUser) {
  EXPECT_EQ(get("/feeds/cal_of_ann").body, "ann");
}

TEST_F(PathSecret, TOOL_12_UnknownSecretIsAPathThatDoesNotExist) {
  auto const unknown = get("/feeds/cal_of_eve");

  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.body, get("/nothing/here").body);
}

TEST_F(PathSecret, TOOL_12_RequestsCountAsThoseOfTheUser) {
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(get("/feeds/cal_of_ann").status, 200);

  auto const refused = get("/feeds/cal_of_ann");

  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.back().first, "Retry-After");
  EXPECT_EQ(get("/feeds/cal_of_eve").status, 404);
}

TEST_F(PathSecret, TOOL_12_ErrorsOfTheStoreAreNotTakenForUnknownSecrets) {
  EXPECT_EQ(get("/feeds/later").status, 503);
  EXPECT_EQ(get("/feeds/broken").status, 500);
}

// The path that is logged is that of the request after `admit`.
TEST_F(PathSecret, TOOL_12_PathThatIsLoggedHasNoSecret) {
  auto found = request("/feeds/%63al_of_ann");
  EXPECT_EQ(answer(found).status, 200);
  auto wrong = request("/feeds/%63al_of_ann");
  wrong.method = api::Method::post;
  EXPECT_EQ(answer(wrong).status, 405);

  EXPECT_EQ(found.path, "/feeds/{feed}");
  EXPECT_EQ(wrong.path, "/feeds/{feed}");
}

TEST_F(PathSecret, RouteWithASecretNeedsTheOneWhoKnowsItsUser) {
  api::Router router;

  EXPECT_THROW(router.add(api::Method::get, "/a/{b}", api::Access::path_secret, tell_whose),
               std::logic_error);
  EXPECT_THROW(
      router.add(api::Method::get, "/a/{b}", api::Access::user, tell_whose, {.owner_of = &owner_of_path}),
      std::logic_error);
}

}  // namespace
}  // namespace runnel::http
