#include "runnel/core/json/pointer.h"

#include <gtest/gtest.h>

namespace runnel {
namespace {

TEST(JsonPointer, HTTP_2_NamesAreEscapedAndComeBack) {
  for (auto const& [name, token] : {std::pair{"plain", "plain"},
                                    {"", ""},
                                    {"a/b", "a~1b"},
                                    {"a~b", "a~0b"},
                                    {"~1", "~01"},
                                    {"/~/", "~1~0~1"},
                                    {"日/本", "日~1本"}}) {
    EXPECT_EQ(to_pointer_token(name), token);
    EXPECT_EQ(from_pointer_token(token), name);
  }
}

TEST(JsonPointer, HTTP_2_ALongNameIsToldByItsBeginning) {
  std::string const longest(64, 'x');

  EXPECT_EQ(to_told_token(longest), longest);
  EXPECT_EQ(to_told_token(longest + "x"), longest + "…");
  EXPECT_EQ(to_told_token(longest.substr(0, 63) + "日本"), longest.substr(0, 63) + "…");
  EXPECT_EQ(to_told_token("a/b"), "a~1b");
}

TEST(JsonPointer, HTTP_2_ATildeThatEscapesNothingStays) {
  EXPECT_EQ(from_pointer_token("~"), "~");
  EXPECT_EQ(from_pointer_token("a~2b~"), "a~2b~");
}

}  // namespace
}  // namespace runnel
