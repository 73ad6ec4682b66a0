#include "runnel/core/json/write.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace runnel {
namespace {

using namespace std::string_literals;

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonString, KeepsPlainTextAsItIs) {
  EXPECT_EQ(as_json(""), R"("")");
  EXPECT_EQ(as_json("plain text / with \x7f"), "\"plain text / with \x7f\"");
  EXPECT_EQ(as_json("日程 é 😀 \u2028"), "\"日程 é 😀 \u2028\"");
}

TEST(JsonString, EscapesQuotesBackslashesAndControls) {
  EXPECT_EQ(as_json("\"\\\b\f\n\r\t"), R"("\"\\\b\f\n\r\t")");
  EXPECT_EQ(as_json("a\0b\x1f"s), R"("a\u0000b\u001f")");
}

TEST(JsonString, ReplacesEachByteThatIsNotUtf8) {
  EXPECT_EQ(as_json("a\xff z"), "\"a\uFFFD z\"");
  EXPECT_EQ(as_json("\xe6\x97"), "\"\uFFFD\uFFFD\"");            // Cut short.
  EXPECT_EQ(as_json("\xc0\x80"), "\"\uFFFD\uFFFD\"");            // Overlong.
  EXPECT_EQ(as_json("\xed\xa0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");  // A surrogate.
  EXPECT_EQ(as_json("\xe6\""), "\"\uFFFD\\\"\"");                // The quote is not swallowed.
}

TEST(JsonString, FindsWhatIsNotPlainAtEveryPlace) {
  for (std::size_t at = 0; at < 20; ++at) {
    for (unsigned byte = 0; byte < 0x100; ++byte) {
      auto text = std::string(20, 'x');
      text[at] = static_cast<char>(byte);
      std::string one;
      append_json_string(one, text.substr(at, 1));
      auto const expected =
          "\"" + std::string(at, 'x') + one.substr(1, one.size() - 2) + std::string(19 - at, 'x') + "\"";
      EXPECT_EQ(as_json(text), expected) << byte << " at " << at;
    }
  }
}

TEST(JsonNumber, ReachesTheEndsOfBothTypes) {
  std::string out;
  append_json_number(out, INT64_MIN);
  out += ' ';
  append_json_number(out, UINT64_MAX);
  EXPECT_EQ(out, "-9223372036854775808 18446744073709551615");
}

TEST(JsonObject, SetsItsCommasAndNests) {
  std::string out;
  JsonObject object{out};
  object.text("a", "x").number("b", -1).boolean("c", true).null("d").raw("e", "[1]");
  JsonObject{object.key("f")}.close();
  object.close();
  EXPECT_EQ(out, R"({"a":"x","b":-1,"c":true,"d":null,"e":[1],"f":{}})");
}

}  // namespace
}  // namespace runnel
