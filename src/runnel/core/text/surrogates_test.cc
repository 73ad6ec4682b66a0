#include "runnel/core/text/surrogates.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace runnel {
namespace {

TEST(Surrogates, AHalfWithoutTheOtherIsReplacedAndPairsStay) {
  auto const mended = [](std::string_view json) { return mend_surrogates(json, LoneHalf::replaced); };
  EXPECT_EQ(mended(R"("a\ud83d\ude00b")"), R"("a\ud83d\ude00b")");
  EXPECT_EQ(mended(R"("a\ud83db")"), R"("a\ufffdb")");
  EXPECT_EQ(mended(R"("a\uDE00")"), R"("a\ufffd")");
  EXPECT_EQ(mended(R"("\ude00\ud83d")"), R"("\ufffd\ufffd")");
  EXPECT_EQ(mended(R"("\ud83d\ud83d\ude00")"), R"("\ufffd\ud83d\ude00")");
  EXPECT_EQ(mended(R"("\ud83d\n\ude00")"), R"("\ufffd\n\ufffd")");
}

TEST(Surrogates, WhatIsNoEscapeOfAHalfStaysAsItIs) {
  for (auto const* text : {R"("\\ud83d")", R"("\\\\ud83d")", R"("\u00e9\n\"")", R"("\ud8g0")", R"("\ud83)",
                           "\\", "no JSON", "", "é\xff"})
    EXPECT_EQ(mend_surrogates(text, LoneHalf::replaced), text) << text;
}

// The text that each piece gives, in order, and then what finish() returns.
std::vector<std::string> joined(std::vector<std::string> pieces) {
  HalfJoiner joiner;
  std::vector<std::string> out;
  for (auto& piece : pieces) {
    auto text = mend_surrogates(piece, LoneHalf::kept);
    joiner.join(text);
    out.push_back(text);
  }
  out.push_back(joiner.finish());
  return out;
}

using Texts = std::vector<std::string>;

TEST(HalfJoiner, HalvesOfTwoPiecesBecomeOneCharacter) {
  EXPECT_EQ(joined({R"(a\ud83d)", R"(\ude00b)"}), (Texts{"a", "😀b", ""}));
  EXPECT_EQ(joined({R"(\ud83d)", "", R"(\ude00)"}), (Texts{"", "", "😀", ""}));
  EXPECT_EQ(joined({R"(\ud83d)", R"(\ude00\ud83d)", R"(\ude01)"}), (Texts{"", "😀", "😁", ""}));
}

TEST(HalfJoiner, AHalfThatStaysAloneIsTheReplacementCharacter) {
  EXPECT_EQ(joined({R"(a\ud83d)", "b"}), (Texts{"a", "\uFFFDb", ""}));
  EXPECT_EQ(joined({R"(a\ud83d)"}), (Texts{"a", "\uFFFD"}));
  EXPECT_EQ(joined({R"(\ude00b)"}), (Texts{"\uFFFDb", ""}));
  EXPECT_EQ(joined({R"(\ud83d)", R"(\ud83d)"}), (Texts{"", "\uFFFD", "\uFFFD"}));
}

TEST(HalfJoiner, OtherTextStaysAsItIs) {
  EXPECT_EQ(joined({"é日😀", "퟿퀀"}), (Texts{"é日😀", "퟿퀀", ""}));
}

}  // namespace
}  // namespace runnel
