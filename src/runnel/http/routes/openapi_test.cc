#include "runnel/http/routes/openapi.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/api/openapi_document.h"
#include "runnel/base/schema/json_schema.h"

namespace runnel::http {
namespace {

namespace json = boost::json;

TEST(OpenApi, HTTP_7_EverySchemaCanBeLoaded) {
  auto const schemas =
      json::parse(api::assemble_openapi({openapi_part()})).at("components").at("schemas").as_object();

  for (auto const& [name, schema] : schemas) {
    auto const loaded = base::JsonSchema::load(schema, schemas);
    EXPECT_TRUE(loaded.has_value()) << name << ": " << loaded.error().detail;
  }
}

}  // namespace
}  // namespace runnel::http
