#include "runnel/model/openai/think_tags.h"

#include <gtest/gtest.h>

namespace runnel::model {
namespace {

ThinkTags::Pieces read(std::string_view text, std::size_t size) {
  ThinkTags tags;
  ThinkTags::Pieces all;
  auto const take = [&all](ThinkTags::Pieces const& pieces) {
    all.reasoning += pieces.reasoning;
    all.text += pieces.text;
  };
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size())))
    take(tags.feed(std::string{text.substr(0, size)}));
  take(tags.finish());
  return all;
}

void expect_read(std::string_view text, std::string const& reasoning, std::string const& rest) {
  for (std::size_t size = 1; size <= text.size(); ++size) {
    auto const all = read(text, size);
    EXPECT_EQ(all.reasoning, reasoning) << text << " by " << size;
    EXPECT_EQ(all.text, rest) << text << " by " << size;
  }
}

TEST(ThinkTags, USE_10_LeadingTagIsReasoningHoweverItIsSplit) {
  expect_read("<think>why</think>\n\nbecause", "why", "because");
  expect_read("\n<think>\na < b </thin </think>c", "\na < b </thin ", "c");
  expect_read("<think></think>x", "", "x");
}

TEST(ThinkTags, USE_10_LaterTagsAreText) {
  expect_read("a <think>b</think>", "", "a <think>b</think>");
  expect_read("<think>a</think>b<think>c</think>", "a", "b<think>c</think>");
}

TEST(ThinkTags, USE_10_NothingIsLost) {
  expect_read("<thi", "", "<thi");
  expect_read("<thin air", "", "<thin air");
  expect_read("  text", "", "  text");
  expect_read("<think>never closed</thi", "never closed</thi", "");
}

TEST(ThinkTags, USE_10_DisabledTheyAreText) {
  ThinkTags tags;
  tags.disable();
  EXPECT_EQ(tags.feed("<think>a</think>").text, "<think>a</think>");
}

}  // namespace
}  // namespace runnel::model
