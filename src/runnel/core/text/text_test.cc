#include "runnel/core/text/text.h"

#include <gtest/gtest.h>

#include "runnel/core/text/sha256.h"

namespace runnel {
namespace {

TEST(Utf8, TellsValidSequencesFromOthers) {
  EXPECT_TRUE(is_utf8("a é 日 😀 \xf4\x8f\xbf\xbf"));
  for (auto const* bad : {"\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe6\x97", "\xff"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(Utf8, BadByteIsFoundAtEveryPlace) {
  for (std::size_t at = 0; at < 20; ++at) {
    auto text = std::string(20, 'x');
    EXPECT_TRUE(is_utf8(text.substr(0, at) + "日" + text.substr(at)));
    text[at] = '\x80';
    EXPECT_FALSE(is_utf8(text)) << at;
  }
}

TEST(Utf8, RepairsByteByByte) {
  EXPECT_EQ(to_valid_utf8("a\xe6\x97z\xff"), "a\uFFFD\uFFFDz\uFFFD");
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(count_code_points("aé日😀"), 4U);
}

TEST(Text, FLOW_6_StripsWhatPythonStrips) {
  for (auto const* space :
       {"\t",     "\n",     "\v",     "\f",     "\r",     "\x1c",   "\x1d",   "\x1e",   "\x1f",   " ",
        "\u0085", "\u00a0", "\u1680", "\u2000", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"}) {
    EXPECT_EQ(strip(std::string{space} + space + "a b" + space), "a b");
    EXPECT_EQ(strip(space), "");
  }
  for (auto const* other : {"\u200b", "\ufeff", "\u180e", "\u2060", "\x7f", "\x01", "\x85", "\xa0"})
    EXPECT_EQ(strip(other), other);
  EXPECT_EQ(strip("a\x80 "), "a\x80") << "a byte that belongs to no character is not white space";
  EXPECT_EQ(strip(" \xe2\x80 "), "\xe2\x80") << "half of a character is not white space";
  EXPECT_EQ(strip(""), "");
}

TEST(Text, IsBlankWhereNothingButWhiteSpaceIsInIt) {
  EXPECT_TRUE(is_blank(""));
  EXPECT_TRUE(is_blank(" \t\r\n\u00a0\u3000\u2028"));
  EXPECT_FALSE(is_blank("  a "));
  EXPECT_FALSE(is_blank(" \x80"));
  EXPECT_FALSE(is_blank("\u200b")) << "a zero-width space is not white space";
}

TEST(Text, FLOW_6_CutsByCodePoints) {
  EXPECT_EQ(first_code_points("aé日😀z", 4), "aé日😀");
  EXPECT_EQ(first_code_points("ab", 5), "ab");
  EXPECT_EQ(first_code_points("ab", 0), "");
  EXPECT_EQ(first_code_points("\xff\xe6\x97z", 3), "\xff\xe6\x97");
}

TEST(Title, RUN_7_IsTheStrippedMessage) {
  EXPECT_EQ(title_from("\u3000 \t hello  there \u00a0\n"), "hello  there");
}

TEST(Title, RUN_7_EachLineBreakBecomesOneSpace) {
  EXPECT_EQ(title_from("a\n\nb"), "a  b");
  EXPECT_EQ(title_from("a\r\nb\rc\n\rd"), "a b c  d");
  EXPECT_EQ(title_from("a\vb\fc\x1c"
                       "d\x1d"
                       "e\x1e"
                       "f\u0085g\u2028h\u2029i"),
            "a b c d e f g h i");
}

TEST(Title, RUN_7_TabsAndOtherSpacesInsideStay) {
  EXPECT_EQ(title_from("a\tb\u00a0c\x1f"
                       "d"),
            "a\tb\u00a0c\x1f"
            "d");
}

TEST(Title, RUN_7_CutsAfterSixtyFourCodePointsWithoutTrimming) {
  std::string many;
  for (int i = 0; i < 63; ++i)
    many += "日";
  EXPECT_EQ(title_from(many + " x"), many + " ");
  EXPECT_EQ(title_from(many + "\r\nx"), many + " ");
  EXPECT_EQ(title_from(many + "😀x"), many + "😀");
}

TEST(Title, RUN_7_NothingLeftGivesTheDefault) {
  EXPECT_EQ(title_from(""), "新会话");
  EXPECT_EQ(title_from(" \r\n\u2028\x1f"), "新会话");
}

TEST(Title, RUN_7_BytesThatAreNotUtf8CountAsOneEach) {
  EXPECT_EQ(title_from("\xff"
                       "a"),
            "\uFFFDa");
}

TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace runnel
