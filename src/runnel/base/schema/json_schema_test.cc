#include "runnel/base/schema/json_schema.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace runnel::base {
namespace {

namespace json = boost::json;

JsonSchema schema_of(std::string const& text, std::string const& definitions = "{}") {
  return JsonSchema::load(json::parse(text), json::parse(definitions).get_object()).value();
}

std::string told(JsonSchema const& schema, std::string const& document) {
  std::string out;
  for (auto const& violation : schema.check(json::parse(document)))
    out += (out.empty() ? "" : "; ") + to_string(violation);
  return out;
}

std::string told(std::string const& schema, std::string const& document) {
  return told(schema_of(schema), document);
}

std::string load_problem(std::string const& text, std::string const& definitions = "{}") {
  auto const loaded = JsonSchema::load(json::parse(text), json::parse(definitions).get_object());
  return loaded ? "loaded" : loaded.error().detail;
}

TEST(JsonSchema, HTTP_1_TellsWhereAndWhatIsWrong) {
  auto const schema = schema_of(R"({"type":"object","required":["messages"],"properties":{
    "messages":{"type":"array","minItems":1,"items":{"type":"object","required":["role"],
      "properties":{"role":{"type":"string"},"a/b~c":{"type":"integer"}}}}}})");

  EXPECT_EQ(told(schema, R"({"messages":[{"role":"user"}],"other":1})"), "");
  EXPECT_EQ(told(schema, "[]"), "must be an object");
  EXPECT_EQ(told(schema, "{}"), "/messages: is required");
  EXPECT_EQ(told(schema, R"({"messages":[]})"), "/messages: must not be empty");
  EXPECT_EQ(told(schema, R"({"messages":[{"role":"user"},{"role":null,"a/b~c":"x"},{}]})"),
            "/messages/1/role: must be a string; /messages/1/a~1b~0c: must be a whole number; "
            "/messages/2/role: is required");
}

TEST(JsonSchema, HTTP_1_NamesUnknownFields) {
  auto const schema =
      schema_of(R"({"type":"object","properties":{"title":{},"colour":{}},"additionalProperties":false})");

  EXPECT_EQ(told(schema, R"({"title":1,"tilte":2,"x":3})"),
            "/tilte: is not known; known: title, colour; /x: is not known; known: title, colour");
  EXPECT_EQ(told(R"({"additionalProperties":false})", R"({"x":3})"), "/x: is not known");
}

// Each schema with a document that it accepts and one that it refuses. valijson's verdict and our explanation
// must agree.
TEST(JsonSchema, EveryKeywordIsEnforcedAndExplained) {
  struct Case {
    char const* schema;
    char const* good;
    char const* bad;
    char const* words;
  };
  for (auto const& [schema, good, bad, words] : {
           Case{R"({"type":"string"})", R"("x")", "1", "must be a string"},
           Case{R"({"type":"integer"})", "7", "7.5", "must be a whole number"},
           Case{R"({"type":"number"})", "7", R"("7")", "must be a number"},
           Case{R"({"type":"number"})", "7.5", "null", "must be a number"},
           Case{R"({"type":"boolean"})", "false", "0", "must be true or false"},
           Case{R"({"type":"object"})", "{}", "[]", "must be an object"},
           Case{R"({"type":"array"})", "[]", "{}", "must be a list"},
           Case{R"({"type":"null"})", "null", "0", "must be null"},
           Case{R"({"type":["string","null"]})", "null", "0", "must be a string or null"},
           Case{R"({"type":"string","nullable":true})", "null", "0", "must be a string or null"},
           Case{R"({"type":"string","nullable":true,"enum":["a"]})", "null", R"("b")",
                "must be one of a or null"},
           Case{R"({"type":"string","nullable":false})", R"("")", "null", "must be a string"},
           Case{R"({"enum":["a","b",3]})", "3", R"("c")", "must be one of a, b or 3"},
           Case{R"({"const":{"a":1}})", R"({"a":1})", "{}", R"(must be {"a":1})"},
           Case{R"({"minimum":3})", "3", "2", "must be at least 3"},
           Case{R"({"maximum":3})", R"("4")", "3.5", "must be at most 3"},
           Case{R"({"exclusiveMinimum":3})", "4", "3", "must be more than 3"},
           Case{R"({"exclusiveMaximum":3})", "2", "3", "must be less than 3"},
           Case{R"({"minLength":1})", R"("x")", R"("")", "must not be empty"},
           Case{R"({"minLength":2})", R"("你好")", R"("你")", "must have at least 2 characters"},
           Case{R"({"maxLength":2})", R"("你好")", R"("你好吗")", "must have at most 2 characters"},
           Case{R"({"pattern":"^[a-z]+$","maxLength":3})", R"("abc")", R"("a1")",
                "must match the pattern ^[a-z]+$"},
           Case{R"({"pattern":"^[a-z]+$","maxLength":3})", "7", R"("a234")",
                "must have at most 3 characters"},
           Case{R"({"minItems":2})", "[1,2]", "[1]", "must have at least 2 items"},
           Case{R"({"maxItems":1})", "[1]", "[1,2]", "must have at most 1 item"},
           Case{R"({"uniqueItems":true,"maxItems":9})", "[1,2]", "[1,2,1]", "must not have two equal items"},
           Case{R"({"items":{"type":"string"}})", R"(["a"])", R"(["a",1])", "/1: must be a string"},
           Case{R"({"minProperties":2})", R"({"a":1,"b":2})", R"({"a":1})", "must have at least 2 members"},
           Case{R"({"maxProperties":1})", R"({"a":1})", R"({"a":1,"b":2})", "must have at most 1 member"},
           Case{R"({"required":["a"]})", R"({"a":null})", R"({"b":1})", "/a: is required"},
           Case{R"({"properties":{"a":{"type":"string"}}})", R"({"b":1})", R"({"a":1})",
                "/a: must be a string"},
           Case{R"({"additionalProperties":{"type":"string"}})", R"({"b":"x"})", R"({"b":1})",
                "/b: must be a string"},
           Case{R"({"allOf":[{"type":"string"},{"maxLength":1}]})", R"("x")", R"("xx")",
                "must have at most 1 character"},
           Case{R"({"anyOf":[{"type":"string"},{"type":"array"}]})", "[]", "1", "must be a string or a list"},
           Case{R"({"anyOf":[{"type":"string"},{"type":"array","items":{"type":"object"}}]})", "[{}]", "[1]",
                "/0: must be an object"},
           Case{R"({"oneOf":[{"required":["a"]},{"required":["b"]}]})", R"({"a":1})", R"({"a":1,"b":2})",
                "fits more than one of the forms that exclude each other"},
           Case{R"({"oneOf":[{"type":"string"},{"type":"null"}]})", "null", "1", "must be a string or null"},
           Case{R"({"not":{"type":"string"}})", "1", R"("x")", "has a form that is not allowed"},
           Case{R"({"if":{"type":"string"},"then":{"minLength":1},"else":{"type":"array"}})", "[]", "1",
                "must be a list"},
           Case{R"({"if":{"type":"string"},"then":{"minLength":1}})", "1", R"("")", "must not be empty"},
       }) {
    EXPECT_EQ(told(schema, good), "") << schema;
    EXPECT_EQ(told(schema, bad), words) << schema;
  }
}

TEST(JsonSchema, OfSeveralFormsTheOneThatWasMeantIsExplained) {
  auto const schema = schema_of(R"({"oneOf":[
    {"type":"object","required":["for","a","b"],"properties":{"for":{"enum":["x"]},"a":{},"b":{}}},
    {"type":"object","required":["for"],"properties":{"for":{"enum":["y"]}},"additionalProperties":false}]})");

  EXPECT_EQ(told(schema, R"({"for":"x"})"), "/a: is required; /b: is required");
  EXPECT_EQ(told(schema, R"({"for":"y","a":1})"), "/a: is not known; known: for");
  EXPECT_EQ(told(schema, R"({"for":"z","a":1})"), "/for: must be one of x or y");
  EXPECT_EQ(told(schema, "{}"), "/for: is required and must be one of x or y");
}

TEST(JsonSchema, OfSeveralFormsOneWithoutAMissingDistinguishingMemberIsExplained) {
  auto const schema = schema_of(R"({"oneOf":[
    {"type":"object","required":["a","b"],"properties":{"for":{"enum":["x"]},"a":{},"b":{}}},
    {"type":"object","required":["for"],"properties":{"for":{"const":"y"}}}]})");

  EXPECT_EQ(told(schema, "{}"), "/a: is required; /b: is required");
  EXPECT_EQ(told(schema, R"({"for":"z"})"), "/for: must be one of x or y");
}

TEST(JsonSchema, MissingDistinguishingMemberIsToldOnce) {
  auto const schema = schema_of(R"({"required":["for"],"oneOf":[
    {"type":"object","required":["for"],"properties":{"for":{"enum":["x"]}}},
    {"type":"object","required":["for"],"properties":{"for":{"enum":["y"]}}}]})");

  EXPECT_EQ(told(schema, "{}"), "/for: is required and must be one of x or y");
}

TEST(JsonSchema, ReferencesAreFollowedAndMayRecurse) {
  auto const schema = schema_of(R"({"$ref":"#/components/schemas/Tree"})", R"({
    "Tree":{"type":"object","properties":{"name":{"$ref":"#/definitions/Name"},
            "children":{"type":"array","items":{"$ref":"#/components/schemas/Tree"}}}},
    "Name":{"type":"string"},"Unused":{"unknown":1}})");

  EXPECT_EQ(told(schema, R"({"children":[{"name":"x","children":[]}]})"), "");
  EXPECT_EQ(told(schema, R"({"children":[{"children":[{"name":1}]}]})"),
            "/children/0/children/0/name: must be a string");
  EXPECT_EQ(told(R"({"definitions":{"A":{"type":"null"}},"items":{"$ref":"#/definitions/A"}})", "[1]"),
            "/0: must be null");
}

TEST(JsonSchema, WhatWouldNotBeEnforcedIsNotLoaded) {
  for (auto const* keyword : {"unevaluatedProperties", "dependentRequired", "prefixItems",
                              "patternProperties", "multipleOf", "contains", "$id", "minLenght"}) {
    EXPECT_EQ(load_problem(std::string{R"({"properties":{"a":{")"} + keyword + R"(":1}}})"),
              std::string{"/properties/a/"} + keyword +
                  ": this keyword is not supported, so it would not be enforced");
  }
  EXPECT_EQ(load_problem(R"({"$schema":"https://json-schema.org/draft/2020-12/schema"})"),
            "$schema: draft 7 is the newest that is supported");
  EXPECT_EQ(load_problem(R"({"$schema":"http://json-schema.org/draft-07/schema#","description":"x"})"),
            "loaded");
}

TEST(JsonSchema, WhatHostileTextCouldUseIsNotLoaded) {
  EXPECT_EQ(load_problem(R"({"items":{"pattern":"a"}})"),
            "/items: pattern needs a maxLength of at most 1024");
  EXPECT_EQ(load_problem(R"({"pattern":"a","maxLength":1025})"),
            "the schema: pattern needs a maxLength of at most 1024");
  EXPECT_EQ(load_problem(R"({"uniqueItems":true})"),
            "the schema: uniqueItems needs a maxItems of at most 1024");
  EXPECT_EQ(load_problem(R"({"pattern":"(","maxLength":9})"),
            "the schema: pattern is not a regular expression, or it refers back to a part of the match");
  EXPECT_EQ(load_problem(R"({"pattern":"^(a)\\1$","maxLength":9})"),
            "the schema: pattern is not a regular expression, or it refers back to a part of the match");
}

TEST(JsonSchema, MalformedSchemasAreNotLoaded) {
  for (auto const* schema :
       {"[]", R"({"type":"text"})", R"({"type":[]})", R"({"required":"a"})", R"({"enum":[]})",
        R"({"minLength":-1})", R"({"minimum":"1"})", R"({"exclusiveMinimum":true})", R"({"properties":[]})",
        R"({"items":[{}]})", R"({"allOf":{}})", R"({"anyOf":[]})", R"({"not":true})", R"({"then":{}})",
        R"({"$ref":7})", R"({"$ref":"#/definitions/None"})", R"({"$ref":"other.json"})",
        R"({"$ref":"#/definitions/A","type":"null"})"})
    EXPECT_NE(load_problem(schema), "loaded") << schema;
}

TEST(JsonSchema, AReferenceInACircleIsNotLoaded) {
  EXPECT_EQ(load_problem(R"({"$ref":"#/definitions/A"})",
                         R"({"A":{"allOf":[{"$ref":"#/definitions/B"}]},"B":{"$ref":"#/definitions/A"}})"),
            "definitions/A: refers to itself for the same value");
}

TEST(JsonSchema, LongTextMeetsNoRegularExpression) {
  auto const schema = schema_of(R"({"items":{"pattern":"^(a|b)*$","maxLength":1024}})");
  json::array const list{json::value(std::string(1'000'000, 'a'))};

  EXPECT_EQ(schema.check(list).at(0).what, "must have at most 1024 characters");
}

TEST(JsonSchema, NoTextMakesAPatternRunForEver) {
  auto const schema = schema_of(R"({"pattern":"^([a-zA-Z0-9]+[._-]?)+@[a-z]+$","maxLength":1024})");

  EXPECT_EQ(schema.check(json::value(std::string(1000, 'a') + "!")).size(), 1U);
  EXPECT_EQ(schema.check(json::value(std::string(1000, 'a') + "@b")).size(), 0U);
}

TEST(JsonSchema, AMillionFaultsAreToldAsTwenty) {
  json::array const list(1'000'000, json::value(1));

  EXPECT_EQ(schema_of(R"({"items":{"type":"string"}})").check(list).size(), kMostViolations);
}

}  // namespace
}  // namespace runnel::base
