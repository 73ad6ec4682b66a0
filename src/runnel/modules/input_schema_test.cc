#include "runnel/modules/input_schema.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/modules/batch.h"

namespace runnel::modules {
namespace {

namespace json = boost::json;

constexpr char kItem[] =
    R"({"type":"object","required":["name"],"properties":{"name":{"type":"string","minLength":1}},)"
    R"("additionalProperties":false})";

InputSchema schema() {
  return InputSchema::load(schema_with_batch("Adds names.", kItem)).value();
}

std::string fault(std::string const& input) {
  return schema().judge(json::parse(input).as_object()).fault;
}

using Faults = std::vector<std::string>;

TEST(InputSchema, TOOL_12_SingleCallMayNameItsMode) {
  EXPECT_EQ(fault(R"({"name":"a"})"), "");
  EXPECT_EQ(fault(R"({"mode":"single","name":"a"})"), "");
  EXPECT_EQ(fault("{}"), "/name: is required");
  EXPECT_EQ(fault(R"({"mode":"single","name":"a","items":[]})"), "/items: is not known; known: mode, name");
}

TEST(InputSchema, TOOL_12_ItemsOfABatchAreJudgedOneByOne) {
  auto const judged = schema().judge(
      json::parse(R"({"mode":"batch","items":[{"name":"a"},{"name":5},{"nick":"x"},7]})").as_object());

  EXPECT_EQ(judged.fault, "");
  EXPECT_EQ(judged.item_faults,
            (Faults{"", "/name: must be a string", "/name: is required; /nick: is not known; known: name",
                    "must be an object"}));
}

TEST(InputSchema, TOOL_4_ABatchHasItsOwnForm) {
  EXPECT_EQ(fault(R"({"mode":"batch"})"), "/items: is required");
  EXPECT_EQ(fault(R"({"mode":"batch","items":[]})"), "/items: must not be empty");
  EXPECT_EQ(fault(R"({"mode":"batch","items":[{}],"name":"a"})"), "/name: is not known; known: mode, items");
  json::array const many(kMostBatchItems + 1, json::object{});
  EXPECT_EQ(fault(json::serialize(json::object{{"mode", "batch"}, {"items", many}})),
            "/items: must have at most 1000 items");
}

TEST(InputSchema, TOOL_4_TheSchemaThatIsShownIsWhole) {
  auto const shown = json::parse(schema().line());

  EXPECT_EQ(shown.at("oneOf").at(1).at("properties").at("items").at("items"), json::parse(kItem));
}

}  // namespace
}  // namespace runnel::modules
