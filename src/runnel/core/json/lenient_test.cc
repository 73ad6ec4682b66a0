#include "runnel/core/json/lenient.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>

namespace runnel {
namespace {

namespace json = boost::json;

// The tree, written out again, or the text of the problem.
std::string read(std::string_view text) {
  auto const parsed = parse_lenient_json(text);
  if (auto const* problem = std::get_if<JsonProblem>(&parsed)) return to_string(*problem);
  auto written = json::serialize(std::get<json::value>(parsed));
  EXPECT_EQ(json::serialize(parse_stored_json(written).value()), written) << "what is stored can be read";
  return written;
}

TEST(LenientJson, FLOW_4_OfAKeyThatOccursTwiceTheLastCounts) {
  EXPECT_EQ(read(R"({"a":1,"b":2,"a":3})"), R"({"a":3,"b":2})");
  EXPECT_EQ(read(R"({"d":{"x":1,"\u0078":[2]}})"), R"({"d":{"x":[2]}})");
}

TEST(LenientJson, FLOW_4_NumbersKeepTheirDigits) {
  EXPECT_EQ(read("[9223372036854775807,-9223372036854775808]"), "[9223372036854775807,-9223372036854775808]");
  EXPECT_EQ(read("[9223372036854775808,18446744073709551615]"), "[9223372036854775808,18446744073709551615]");
  EXPECT_EQ(read("[18446744073709551616,-9223372036854775809]"),
            R"(["18446744073709551616","-9223372036854775809"])");
  EXPECT_EQ(read("[1e999]"), R"(["1e999"])");
  EXPECT_EQ(read("[1.5]"), "[1.5E0]");
}

TEST(LenientJson, FLOW_4_WhatNoTextCanHoldIsReplaced) {
  EXPECT_EQ(read(R"({"a\u0000":"b\u0000c"})"), "{\"a\uFFFD\":\"b\uFFFDc\"}");
  EXPECT_EQ(read(R"(["\ud83d\ude00","\ud83d","\ude00x"])"), "[\"😀\",\"\uFFFD\",\"\uFFFDx\"]");
}

TEST(LenientJson, WhatIsNoJsonIsAProblemWithItsPlace) {
  EXPECT_EQ(read("{\"a\":1,\n \"a\":}"), "line 2, column 6: not valid JSON");
  EXPECT_EQ(read(R"({"a":1,"a":2)"), "line 1, column 13: the JSON ends too early");
  EXPECT_EQ(read(R"({"ä":"\ud83d","b":x})"), "line 1, column 19: not valid JSON");
  EXPECT_EQ(read("{} {}"), "line 1, column 4: there is more text after the end of the JSON");
  EXPECT_EQ(read(R"(["\u12g4"])"), "line 1, column 7: a \\u escape needs four hexadecimal digits");
  EXPECT_EQ(read(std::string(65, '[')), "line 1, column 65: nested deeper than 64 levels");
}

}  // namespace
}  // namespace runnel
