#include "runnel/flow/prompt/template.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace runnel::flow {
namespace {

std::vector<std::string> names_in(std::string text) {
  Template const parsed{std::move(text)};
  std::vector<std::string> names;
  for (auto const& placeholder : parsed.placeholders())
    names.push_back(placeholder.name);
  return names;
}

std::string shout(std::string_view name) {
  return "<" + std::string{name} + ">";
}

TEST(Template, FLOW_1_PlaceholdersAreNamesInBraces) {
  EXPECT_EQ(names_in("{a} and {_b.c}, {D9}{e}"), (std::vector<std::string>{"a", "_b.c", "D9", "e"}));
}

TEST(Template, FLOW_1_OtherBracesArePlainText) {
  for (std::string const text :
       {"", "{", "}", "{}", "{ a }", "{9}", "{.a}", "{\"a\":1}", "{a", "{a b}", "{é}", "{a-b}", "{a\n}"}) {
    EXPECT_TRUE(names_in(text).empty()) << text;
    EXPECT_EQ(Template{text}.render(shout), text);
  }
}

TEST(Template, FLOW_1_APlaceholderMayStandInBraces) {
  EXPECT_EQ(Template{"{{a}} {{b} {c{d}"}.render(shout), "{<a>} {<b> {c<d>");
}

TEST(Template, FLOW_1_PlaceholdersKnowTheirPlace) {
  Template const text{"x{a}\n{b}"};

  ASSERT_EQ(text.placeholders().size(), 2u);
  EXPECT_EQ(text.placeholders()[0].offset, 1u);
  EXPECT_EQ(text.placeholders()[1].offset, 5u);
}

TEST(Template, FLOW_1_ValuesAreNotLookedAtAgain) {
  auto const nested = [](std::string_view name) { return std::string{name == "a" ? "{b}{a" : "}{a}"}; };

  EXPECT_EQ(Template{"{a}{b}|{a}"}.render(nested), "{b}{a}{a}|{b}{a");
}

TEST(Template, FLOW_1_TextAroundPlaceholdersIsKept) {
  EXPECT_EQ(Template{"{a} zwischen {b} 日本 "}.render(shout), "<a> zwischen <b> 日本 ");
}

}  // namespace
}  // namespace runnel::flow
