#include "runnel/base/yaml/trouble.h"

#include <gtest/gtest.h>

#include <string>

namespace runnel::base {
namespace {

// "LINE: what" for a text that is not valid YAML.
std::string trouble(std::string const& text) {
  try {
    (void)YAML::LoadAll(text);
  } catch (YAML::Exception const& error) {
    auto const [mark, what] = explain_yaml(error, text);
    return std::to_string(mark.line + 1) + ": " + what;
  }
  return "none";
}

TEST(YamlTrouble, CFG_1_IsToldInPlainWordsWithItsLine) {
  EXPECT_EQ(trouble("a: 1\nb: 2\n"), "none");
  EXPECT_EQ(
      trouble("http:\n  a: 1\n b: 2\n"),
      "3: this line does not continue the map above it; check its indentation, and that it is 'key: value'");
  EXPECT_EQ(trouble("a: {b: 1\nc: 2\n"), "2: a '{' is not closed by '}' up to here, or a ',' is missing");
  EXPECT_EQ(trouble("a: [1, 2\n"), "2: a '[' is not closed by ']' up to here, or a ',' is missing");
  EXPECT_EQ(trouble("a: b: c\n"),
            "1: a ':' is not allowed here; check the indentation, and put quotes around a text that has ': ' "
            "in it");
  EXPECT_EQ(trouble("a: \"b"), "1: a quote is not closed");
  EXPECT_EQ(trouble("a: ]\n"), "1: this ']' or '}' closes nothing");
  EXPECT_EQ(trouble("a: @b\n"), "1: no value begins with this character; put quotes around the text");
  EXPECT_EQ(trouble("a: \"\\q\"\n"),
            "1: this escape is not known; in double quotes write a backslash twice, or use single quotes");
  EXPECT_EQ(trouble("a: *b\n"), "1: this '*name' refers to a '&name' that is not above it");
}

TEST(YamlTrouble, CFG_1_ATabIsToldOfWhereverTheParserStumbles) {
  EXPECT_EQ(trouble("a:\n  b: 1\n\tc: 2\n"), "3: tab used for indentation; YAML takes spaces only");
  EXPECT_EQ(trouble("a:\n\t# A comment.\n  b: {\n"),
            "4: a '{' is not closed by '}' up to here, or a ',' is missing");
}

TEST(YamlTrouble, CFG_1_DeepNestingIsToldAsSuch) {
  EXPECT_EQ(trouble(std::string(100'000, '[')), "1: nested too deeply");
}

}  // namespace
}  // namespace runnel::base
