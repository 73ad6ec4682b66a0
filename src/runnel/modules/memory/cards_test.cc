#include "runnel/modules/memory/cards.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace runnel::modules::memory {
namespace {

namespace json = boost::json;
using Lines = std::vector<std::string>;

Card card_of(std::string const& input, CardReader const& reader, std::string const& outcome = "updated") {
  auto const form = card_forms().at(0);
  auto const sent = json::parse(input).as_object();
  json::object const data{{"outcome", outcome}, {"fields", json::array{"likes"}}};
  return form.make(*form.hints({sent, data}), reader);
}

TEST(MemoryCards, TOOL_8_ShowsWhatWasNoted) {
  std::string const input =
      R"({"kind":"user","content":{"likes":["tea","rain"],"about":"","people":[{"name":"Wei","relation":"friend"}]}})";

  auto const card = card_of(input, {"en", "UTC"});

  EXPECT_EQ(card.title, "Memory updated");
  EXPECT_EQ(card.items.at(0).title, "Personal");
  EXPECT_EQ(card.items.at(0).lines, (Lines{"Likes: tea; rain", "About: removed", "People: Wei, friend"}));
  EXPECT_EQ(card_of(input, {"zh-Hans-CN", "UTC"}).items.at(0).lines.at(0), "喜欢：tea；rain");
}

TEST(MemoryCards, TOOL_8_SaysThatNothingChanged) {
  auto const card =
      card_of(R"({"kind":"work_profile","content":{"role":"baker"}})", {"zh-CN", "UTC"}, "unchanged");

  EXPECT_EQ(card.title, "记忆没有变化");
  EXPECT_EQ(card.items.at(0).title, "工作");
  EXPECT_EQ(card.items.at(0).lines, Lines{"职务：baker"});
}

TEST(MemoryCards, TOOL_8_LongTextsAreCut) {
  auto const card =
      card_of(R"({"kind":"user","content":{"about":")" + std::string(500, 'x') + "\"}}", {"en", "UTC"});

  EXPECT_EQ(card.items.at(0).lines.at(0), "About: " + std::string(200, 'x') + "…");
}

}  // namespace
}  // namespace runnel::modules::memory
