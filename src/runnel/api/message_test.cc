#include "runnel/api/message.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace runnel::api {
namespace {

TEST(Request, HeadersAreFoundInAnyCase) {
  Request request;
  request.headers = {{"Last-Event-ID", "1-2"}, {"X-A", "first"}, {"x-a", "second"}};

  EXPECT_EQ(request.header("last-event-id"), "1-2");
  EXPECT_EQ(request.header("X-a"), "first");
  EXPECT_EQ(request.count_headers("X-A"), 2u);
  EXPECT_EQ(request.header("X-B"), std::nullopt);
}

TEST(Request, RepeatedQueryNameIsFound) {
  Request request;
  request.query_items = {{"runId", "a"}, {"dialect", "v2"}};
  EXPECT_EQ(request.repeated_query(), std::nullopt);
  EXPECT_EQ(request.query("dialect"), "v2");
  EXPECT_EQ(request.query("other"), std::nullopt);

  request.query_items.emplace_back("runId", "a");

  EXPECT_EQ(request.repeated_query(), "runId");
}

TEST(Request, ParameterThatThePatternLacksIsABug) {
  Request request;
  request.params = {{"thread_id", "t"}};

  EXPECT_EQ(request.param("thread_id"), "t");
  EXPECT_THROW((void)request.param("run_id"), std::logic_error);
}

TEST(Target, SplitsPathAndQuery) {
  auto const target = parse_target("/a/b%2Fc?runId=r%201&empty=&flag&plus=a+b&x=%E4%BC%9A");

  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(target->path, "/a/b%2Fc");
  EXPECT_EQ(target->query_items,
            (Pairs{{"runId", "r 1"}, {"empty", ""}, {"flag", ""}, {"plus", "a b"}, {"x", "会"}}));
}

TEST(Target, AbsoluteFormLosesItsAuthority) {
  EXPECT_EQ(parse_target("http://example.com/a?b=c")->path, "/a");
  EXPECT_EQ(parse_target("HTTP://example.com")->path, "/");
}

TEST(Target, PathMayHaveAllThatAUriPathMay) {
  auto const* const path = "/aZ09-._~!$&'()*+,;=:@%41//";

  EXPECT_EQ(parse_target(path)->path, path);
}

TEST(Target, OtherFormsAreRefused) {
  for (char const* target :
       {"",         "*",        "a/b",        "?a",        "example.com:80", "/a?b=%zz", "/a?b=%00",
        "/a?b=%ff", "/a?b=c#d", "/a?b=\"c\"", "ftp://a/b", "/a#b",           "/#",       "/a\"b",
        "/a<b>",    "/a\\b",    "/a^b",       "/a`b",      "/{a}",           "/a|b",     "/a[0]"}) {
    EXPECT_FALSE(parse_target(target).has_value()) << target;
  }
}

TEST(ParseTarget, HTTP_6_QueryHasAFewItemsOnly) {
  std::string many = "/x?";
  for (int i = 0; i < 64; ++i)
    many += "p" + std::to_string(i) + "&";

  EXPECT_TRUE(parse_target(many.substr(0, many.size() - 1)));
  EXPECT_FALSE(parse_target(many + "one=more"));
}

}  // namespace
}  // namespace runnel::api
