#include "runnel/core/json/parse.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace runnel {
namespace {

std::string said(std::string_view text, std::size_t max_depth = kDefaultJsonDepth) {
  auto const parsed = parse_json(text, max_depth);
  auto const* problem = std::get_if<JsonProblem>(&parsed);
  return problem != nullptr ? to_string(*problem) : boost::json::serialize(std::get<0>(parsed));
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

std::string object_with_keys(int count, std::string const& last) {
  std::string out = "{";
  for (int i = 0; i < count; ++i)
    out += "\"k" + std::to_string(i) + "\":0,";
  return out + "\"" + last + "\":0}";
}

TEST(JsonParse, HTTP_1_GivesTheTree) {
  EXPECT_EQ(said(R"( {"a":[1,-2.5,true,null,"x\n\ud83d\ude00"],"":{"a":{}}} )"),
            "{\"a\":[1,-2.5E0,true,null,\"x\\n\xF0\x9F\x98\x80\"],\"\":{\"a\":{}}}");
  EXPECT_EQ(said("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(said("-9223372036854775808"), "-9223372036854775808");
}

TEST(JsonParse, HTTP_9_CountsValuesAndKeysWhileItReads) {
  JsonLimits limits;
  limits.values = 10;
  std::string const fitting = R"([{"a":[1,2.5,"x"]},true,null,{}])";  // One key, nine values.
  EXPECT_TRUE(std::holds_alternative<boost::json::value>(parse_json(fitting, limits)));

  // Parsing stops at the first value beyond the limit and does not look at what follows.
  for (auto const* more : {"1", "1.5", "\"x\"", "true", "null", "[", "{"}) {
    auto const text = fitting.substr(0, fitting.size() - 1) + "," + more + " no JSON";
    auto const parsed = parse_json(text, limits);
    auto const* problem = std::get_if<JsonProblem>(&parsed);
    ASSERT_NE(problem, nullptr) << more;
    EXPECT_TRUE(problem->too_complex) << more << ": " << problem->what;
  }
  auto const broken = parse_json("[1,", limits);
  EXPECT_FALSE(std::get<JsonProblem>(broken).too_complex);
}

TEST(JsonParse, HTTP_9_StoredJsonIsReadWhateverItHas) {
  auto const many = object_with_keys(200'000, "last");

  EXPECT_TRUE(parse_stored_json(many).has_value());
}

TEST(JsonParse, HTTP_1_SaysWhereTheTextIsWrong) {
  EXPECT_EQ(said("{\n  \"a\": tru }"), "line 2, column 8: not valid JSON");
  EXPECT_EQ(said("{\"你好\": x}"), "line 1, column 8: not valid JSON");
}

TEST(JsonParse, HTTP_1_RefusesWhatIsNotOneDocument) {
  EXPECT_EQ(said(""), "line 1, column 1: the JSON ends too early");
  EXPECT_EQ(said("{\"a\":"), "line 1, column 6: the JSON ends too early");
  EXPECT_EQ(said("{} {}"), "line 1, column 4: there is more text after the end of the JSON");
  EXPECT_EQ(said("01"), "line 1, column 2: there is more text after the end of the JSON");
  for (auto const* text : {"[1,]", "'a'", "NaN", "// c\n1", "\"a\nb\"", "\"a\tb\""})
    EXPECT_NE(said(text).find("not valid JSON"), std::string::npos) << text;
}

TEST(JsonParse, HTTP_1_RefusesTextThatIsNoUnicode) {
  EXPECT_NE(said("\"\xff\"").find("not valid JSON"), std::string::npos);
  EXPECT_NE(said("\"\xed\xa0\x80\"").find("not valid JSON"), std::string::npos);
  EXPECT_NE(said("{\"\xc0\xaf\":1}").find("not valid JSON"), std::string::npos);
  EXPECT_NE(said(R"("\ud800")").find("not valid JSON"), std::string::npos);
  EXPECT_NE(said(R"("\udc00")").find("surrogate"), std::string::npos);
  EXPECT_NE(said(R"("\ud800\u0041")").find("surrogate"), std::string::npos);
}

TEST(JsonParse, HTTP_1_RefusesNulInStringsAndKeys) {
  for (auto const* text : {R"(["a\u0000b"])", R"({"a\u0000":1})", R"("\u0000")"})
    EXPECT_NE(said(text).find("must not contain U+0000"), std::string::npos) << text;
}

TEST(JsonParse, HTTP_1_RefusesAKeyThatOccursTwice) {
  EXPECT_EQ(said(R"({"a":1,"b":{"a":1},"a":2})"),
            "line 1, column 22: the key 'a' occurs twice in one object");
  EXPECT_NE(said(R"({"a":1,"\u0061":2})").find("'a' occurs twice"), std::string::npos);
  EXPECT_NE(said("{\"" + std::string(100, 'k') + "\":1,\"" + std::string(100, 'k') + "\":1}").find("a key"),
            std::string::npos);
}

TEST(JsonParse, HTTP_1_RefusesARepeatedKeyAmongMany) {
  for (int const count : {15, 16, 17, 1000}) {
    EXPECT_NE(said(object_with_keys(count, "k3")).find("'k3' occurs twice"), std::string::npos) << count;
    EXPECT_EQ(said(object_with_keys(count, "other")).find("twice"), std::string::npos) << count;
  }
}

TEST(JsonParse, HTTP_1_RefusesNumbersThatWouldBecomeOthers) {
  for (auto const* text :
       {"9223372036854775808", "18446744073709551616", "-9223372036854775809", "[12345678901234567890123]"})
    EXPECT_NE(said(text).find("does not fit 64 bits"), std::string::npos) << text << said(text);
  EXPECT_NE(said("1e400").find("too large"), std::string::npos);
  EXPECT_EQ(said("1e20"), "1E20");
}

TEST(JsonParse, HTTP_6_NestsToTheLimitAndNoDeeper) {
  EXPECT_EQ(said(nested(64)), nested(64));
  EXPECT_EQ(said(nested(65)), "line 1, column 65: nested deeper than 64 levels");
  EXPECT_EQ(said(nested(5), 4), "line 1, column 5: nested deeper than 4 levels");
}

TEST(JsonParse, HTTP_6_AHundredThousandLevelsAreRefusedAtOnce) {
  EXPECT_NE(said(nested(100'000)).find("nested deeper"), std::string::npos);
  std::string objects;
  for (int i = 0; i < 100'000; ++i)
    objects += R"({"a":)";
  EXPECT_NE(said(objects).find("nested deeper"), std::string::npos);
}

TEST(JsonParse, AKeptTextKeepsItsDigitsAndEscapes) {
  EXPECT_FALSE(check_json_text(R"([12345678901234567890123,1e400,"\u0000"])"));
  EXPECT_TRUE(check_json_text(R"({"a":1,"a":2})"));
  EXPECT_TRUE(check_json_text(nested(65)));
}

}  // namespace
}  // namespace runnel
