#include "runnel/http/routes/server/index_page.h"

#include <gtest/gtest.h>

#include "runnel/api/testing/run_handler.h"

namespace runnel::http {
namespace {

TEST(IndexPage, RunsOnlyWhatItBringsItself) {
  api::Router router;
  add_index_page(router);
  auto const match = router.match(api::Method::get, "/");

  auto const page =
      std::get<api::Response>(api::run_handler(std::get<api::Router::Found>(match).route->handler({})));

  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("/agent/ag-ui"), std::string::npos);
  ASSERT_EQ(page.headers.front().first, "Content-Security-Policy");
  auto const& policy = page.headers.front().second;
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(policy.find("script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  for (char const* foreign : {"src=", "href=", "@import", "url(", "style=\""}) {
    EXPECT_EQ(page.body.find(foreign), std::string::npos) << foreign;
  }
}

}  // namespace
}  // namespace runnel::http
