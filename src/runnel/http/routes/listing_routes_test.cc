#include "runnel/http/routes/listing_routes.h"

#include <gtest/gtest.h>

#include <utility>

#include "runnel/api/testing/run_handler.h"
#include "runnel/http/testing/openapi.h"

namespace runnel::http {
namespace {

Listings some_listings() {
  Listings listings;
  listings.flows.push_back(
      {"chat", "A \"plain\" one.", true, {{"chat", {}, "", true}, {"keep", {"project_cli"}, "memory"}}});
  listings.models.push_back({"tok-*", true, false});
  listings.models.push_back({"tok-1", false, true});
  listings.tools.push_back(
      {"calendar.read", "Reads.", JsonText::parse(R"({"type":"object","required":["mode"]})").value()});
  return listings;
}

api::Response ask_listing(api::Router const& router, char const* path) {
  auto const match = router.match(api::Method::get, path);
  auto const& found = std::get<api::Router::Found>(match);
  EXPECT_EQ(found.route->access, api::Access::user);
  return std::get<api::Response>(api::run_handler(found.route->handler(api::Request{})));
}

TEST(ListingRoutes, RUN_1_FlowsModelsAndToolsAreListed) {
  api::Router router{openapi_contract()};
  add_listing_routes(router, some_listings());

  EXPECT_EQ(
      ask_listing(router, "/api/v1/flows").content(),
      R"({"flows":[{"name":"chat","description":"A \"plain\" one.","default":true,"stages":[)"
      R"({"name":"chat","tools":[],"clientTools":true},{"name":"keep","tools":["project_cli"],"kind":"memory"}]}]})");
  EXPECT_EQ(ask_listing(router, "/api/v1/models").content(),
            R"({"models":[{"name":"tok-*","pattern":true,"default":false},)"
            R"({"name":"tok-1","pattern":false,"default":true}]})");
  EXPECT_EQ(ask_listing(router, "/api/v1/tools").content(),
            R"({"tools":[{"name":"calendar.read","description":"Reads.",)"
            R"("inputSchema":{"type":"object","required":["mode"]}}]})");
}

TEST(ListingRoutes, HTTP_9_AllAnswersShareOneBody) {
  api::Router router{openapi_contract()};
  add_listing_routes(router, some_listings());

  auto const first = ask_listing(router, "/api/v1/tools");

  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.shared_body, ask_listing(router, "/api/v1/tools").shared_body);
}

}  // namespace
}  // namespace runnel::http
