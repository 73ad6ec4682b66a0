#include "runnel/core/json/text.h"

#include <gtest/gtest.h>

namespace runnel {
namespace {

std::string parsed(std::string_view text) {
  return JsonText::parse(text).value().str();
}

bool refused(std::string_view text) {
  auto const result = JsonText::parse(text);
  return !result && result.error().code == Errc::invalid;
}

std::string nested_text(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonText, IsOneLineWithoutSpaceBetweenTokens) {
  EXPECT_EQ(parsed("{ \"a\" :\r\n [ 1 ,\t true ] }\n"), R"({"a":[1,true]})");
}

TEST(JsonText, KeepsSpaceAndEscapesInsideStrings) {
  EXPECT_EQ(parsed(R"( ["a  b\"  c\\" , "  \n"] )"), R"(["a  b\"  c\\","  \n"])");
}

TEST(JsonText, StringsEndAtAQuoteThatIsNotEscaped) {
  for (std::size_t backslashes = 0; backslashes < 6; ++backslashes) {
    auto const text = "\"" + std::string(2 * backslashes, '\\') + "\"";
    EXPECT_EQ(parsed("[ " + text + " , " + text + " ]"), "[" + text + "," + text + "]");
    auto const quoted = "\"" + std::string(2 * backslashes + 1, '\\') + "\" , \"";
    EXPECT_EQ(parsed("[ " + quoted + " ]"), "[" + quoted + "]");
  }
}

TEST(JsonText, KeepsEveryDigitOfANumber) {
  EXPECT_EQ(parsed("[12345678901234567890123, 0.10, 1e400]"), "[12345678901234567890123,0.10,1e400]");
}

TEST(JsonText, RefusesWhatIsNotOneDocument) {
  for (auto const* text :
       {"", " ", "{", "[1,]", "nul", "1 2", "{}{}", "// c\n1", "\"a\nb\"", "\"\xff\"", "'a'", "NaN"}) {
    EXPECT_TRUE(refused(text)) << text;
  }
}

TEST(JsonText, RefusesAKeyThatOccursTwiceInOneObject) {
  EXPECT_TRUE(refused(R"({"a":1,"a":2})"));
  EXPECT_TRUE(refused(R"({"a":1,"\u0061":2})"));
  EXPECT_TRUE(refused(R"([{"x":{"a":1,"b":{},"a":2}}])"));
}

TEST(JsonText, TakesTheSameKeyInSeveralObjects) {
  EXPECT_FALSE(refused(R"([{"a":{"a":1}},{"a":2}])"));
}

TEST(JsonText, NestsToSixtyFourAndNoDeeper) {
  EXPECT_FALSE(refused(nested_text(64)));
  EXPECT_TRUE(refused(nested_text(65)));
}

TEST(JsonText, KnowsNullAndObjects) {
  EXPECT_TRUE(JsonText{}.is_null());
  EXPECT_TRUE(JsonText::empty_object().is_object());
  EXPECT_FALSE(JsonText::parse("[{}]").value().is_object());
}

}  // namespace
}  // namespace runnel
