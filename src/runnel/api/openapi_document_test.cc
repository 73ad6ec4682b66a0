#include "runnel/api/openapi_document.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <stdexcept>

namespace runnel::api {
namespace {

constexpr char kNotes[] =
    R"({"tags":[{"name":"notes"}],"paths":{"/notes":{}},"components":{"schemas":{"Note":{"type":"string"}}}})";

TEST(OpenApiDocument, HTTP_7_HoldsWhatIsCommonAndWhatEachPartBrings) {
  auto const document = boost::json::parse(assemble_openapi({kNotes, R"({"paths":{"/tea":{}}})"}));

  EXPECT_EQ(document.at("openapi"), "3.0.3");
  EXPECT_TRUE(document.at("paths").as_object().contains("/notes"));
  EXPECT_TRUE(document.at("paths").as_object().contains("/tea"));
  EXPECT_TRUE(document.at("components").at("schemas").as_object().contains("Error"));
  EXPECT_TRUE(document.at("components").at("schemas").as_object().contains("Note"));
  EXPECT_EQ(document.at("tags").as_array().size(), 1u);
}

TEST(OpenApiDocument, HTTP_7_PartsThatSayTheSameThingAreRefused) {
  EXPECT_THROW(assemble_openapi({kNotes, R"({"paths":{"/notes":{}}})"}), std::logic_error);
  EXPECT_THROW(assemble_openapi({R"({"components":{"schemas":{"Error":{}}}})"}), std::logic_error);
  EXPECT_THROW(assemble_openapi({R"({"info":{}})"}), std::logic_error);
}

}  // namespace
}  // namespace runnel::api
