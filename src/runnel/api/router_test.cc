#include "runnel/api/router.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace runnel::api {
namespace {

Handler const kNothing = [](Request const&) -> boost::asio::awaitable<Reply> {
  throw std::logic_error("no handler is called here");
};

class RouterTest : public testing::Test {
 protected:
  void add(Method method, std::string pattern) {
    router.add(method, std::move(pattern), Access::user, kNothing);
  }

  // The pattern of the route that is found, or the status if none is.
  std::string find(Method method, std::string_view path) {
    match = router.match(method, path);
    if (auto const* found = std::get_if<Router::Found>(&match)) return found->route->pattern;
    if (auto const* wrong = std::get_if<Router::WrongMethod>(&match)) return "405 " + wrong->allow;
    return std::holds_alternative<Router::BadPath>(match) ? "400" : "404";
  }
  Pairs params() { return std::get<Router::Found>(match).params; }

  Router router;
  Router::Match match;
};

TEST(ContractedRouter, HTTP_7_TakesOnlyWhatTheContractPromises) {
  Router contracted{std::make_shared<OpenApiContract const>(R"({"openapi":"3.0.3","paths":{"/a/{id}":{"get":{
    "operationId":"a","security":[],"parameters":[{"name":"id","in":"path"}],
    "responses":{"200":{"description":"x"}}}}}})")};

  EXPECT_THROW(contracted.add(Method::get, "/b", Access::open, kNothing), std::logic_error);
  EXPECT_THROW(contracted.add(Method::post, "/a/{id}", Access::open, kNothing), std::logic_error);
  EXPECT_THROW(contracted.add(Method::get, "/a/{other}", Access::open, kNothing), std::logic_error);
  EXPECT_THROW(contracted.add(Method::get, "/a/{id}", Access::user, kNothing), std::logic_error);
  contracted.add(Method::get, "/a/{id}", Access::open, kNothing);
  EXPECT_NE(contracted.routes().at(0).operation, nullptr);
}

TEST_F(RouterTest, FindsLiteralsAndParameters) {
  add(Method::get, "/");
  add(Method::get, "/runs/{thread_id}");
  add(Method::post, "/runs/{thread_id}/approvals/{call}");

  EXPECT_EQ(find(Method::get, "/"), "/");
  EXPECT_EQ(find(Method::get, "/runs/t1"), "/runs/{thread_id}");
  EXPECT_EQ(params(), (Pairs{{"thread_id", "t1"}}));
  EXPECT_EQ(find(Method::post, "/runs/t1/approvals/c1"), "/runs/{thread_id}/approvals/{call}");
  EXPECT_EQ(params(), (Pairs{{"thread_id", "t1"}, {"call", "c1"}}));
}

TEST_F(RouterTest, OtherPathsAreNotFound) {
  add(Method::get, "/runs/{thread_id}");

  for (char const* path :
       {"/", "/runs", "/runs/", "/runs/a/", "/runs/a/b", "//runs/a", "/Runs/a", "/runs//a"}) {
    EXPECT_EQ(find(Method::get, path), "404") << path;
  }
}

TEST_F(RouterTest, LiteralWinsOverParameterWhicheverCameFirst) {
  add(Method::get, "/threads/{id}");
  add(Method::get, "/threads/search");
  add(Method::get, "/{any}/search");

  EXPECT_EQ(find(Method::get, "/threads/search"), "/threads/search");
  EXPECT_EQ(find(Method::get, "/threads/other"), "/threads/{id}");
  EXPECT_EQ(find(Method::get, "/runs/search"), "/{any}/search");
}

TEST_F(RouterTest, WrongMethodListsTheRightOnes) {
  add(Method::get, "/threads/{id}");
  add(Method::del, "/threads/{id}");
  add(Method::patch, "/threads/{id}");

  EXPECT_EQ(find(Method::post, "/threads/a"), "405 DELETE, GET, HEAD, PATCH");
  EXPECT_EQ(find(Method::other, "/threads/a"), "405 DELETE, GET, HEAD, PATCH");
}

TEST_F(RouterTest, MethodMayBeThatOfALessSpecificRoute) {
  add(Method::get, "/threads/{id}");
  add(Method::post, "/threads/search");

  EXPECT_EQ(find(Method::get, "/threads/search"), "/threads/{id}");
}

TEST_F(RouterTest, HeadFindsGet) {
  add(Method::get, "/a");
  add(Method::post, "/b");

  EXPECT_EQ(find(Method::head, "/a"), "/a");
  EXPECT_EQ(find(Method::head, "/b"), "405 POST");
}

TEST_F(RouterTest, SegmentsAreDecodedAfterTheyAreSplit) {
  add(Method::get, "/runs/{id}");

  EXPECT_EQ(find(Method::get, "/runs/a%2Fb%20c"), "/runs/{id}");
  EXPECT_EQ(params(), (Pairs{{"id", "a/b c"}}));
  EXPECT_EQ(find(Method::get, "/r%75ns/a+b"), "/runs/{id}");
  EXPECT_EQ(params(), (Pairs{{"id", "a+b"}}));
  EXPECT_EQ(find(Method::get, "/runs/%E4%BC%9A"), "/runs/{id}");
  EXPECT_EQ(params(), (Pairs{{"id", "会"}}));
}

TEST_F(RouterTest, BadEncodingIsRefused) {
  add(Method::get, "/runs/{id}");

  for (char const* path :
       {"/runs/%", "/runs/%2", "/runs/%zz", "/runs/%00", "/runs/a%00b", "/runs/%ff", "/%zz", "runs", ""}) {
    EXPECT_EQ(find(Method::get, path), "400") << path;
  }
}

TEST_F(RouterTest, RoutesCanBeListed) {
  add(Method::get, "/a");
  add(Method::post, "/a");

  ASSERT_EQ(router.routes().size(), 2u);
  EXPECT_EQ(router.routes()[1].method, Method::post);
  EXPECT_EQ(router.routes()[1].pattern, "/a");
}

TEST_F(RouterTest, RepeatedAndMalformedRoutesAreBugs) {
  add(Method::get, "/a/{x}");

  EXPECT_THROW(add(Method::get, "/a/{y}"), std::logic_error);
  EXPECT_THROW(add(Method::get, "a"), std::logic_error);
}

TEST(Router, TailTakesWhatNoOtherRouteDoes) {
  Router router;
  router.add(Method::get, "/{path...}", Access::open, kNothing);
  router.add(Method::get, "/api/{id}", Access::user, kNothing);
  router.add(Method::post, "/only/post", Access::user, kNothing);

  auto const tail = [&router](std::string_view path) {
    auto const match = router.match(Method::get, path);
    return std::get<Router::Found>(match);
  };
  EXPECT_EQ(tail("/a").params, (Pairs{{"path", "a"}}));
  EXPECT_EQ(tail("/a/b%20c/").params, (Pairs{{"path", "a/b c/"}}));
  EXPECT_EQ(tail("/api/7").route->pattern, "/api/{id}");
  EXPECT_TRUE(std::holds_alternative<Router::NoRoute>(router.match(Method::get, "/api/7/x")));
  EXPECT_EQ(tail("/only/post").route->pattern, "/{path...}");
  EXPECT_TRUE(std::holds_alternative<Router::WrongMethod>(router.match(Method::put, "/x")));
}

}  // namespace
}  // namespace runnel::api
