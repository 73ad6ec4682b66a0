#include "runnel/runtime/execution/progress.h"

#include <gtest/gtest.h>

namespace runnel::runtime {
namespace {

PromptMessage turn_of(std::vector<ToolCall> calls) {
  PromptMessage turn;
  turn.speaker = Speaker::assistant;
  turn.text = "Let me \"look\".";
  turn.reasoning = "hm\n";
  turn.tool_calls = std::move(calls);
  return turn;
}

Usage some_usage() {
  Usage usage;
  usage.provider = "p";
  usage.model = "m";
  usage.tokens.input = 7;
  usage.cost = Money{123};
  return usage;
}

std::vector<std::string> texts(Progress const& progress) {
  std::vector<std::string> out;
  for (auto const& message : progress.conversation())
    out.push_back(message.text);
  return out;
}

TEST(Progress, RUN_12_CheckpointsAloneGiveTheSameStateAgain) {
  Progress live;
  std::vector<store::Checkpoint> kept;
  kept.push_back(live.reject_output("router", "nonsense", "wrong: no JSON", Fault::contract));
  kept.push_back(live.finish_stage("router", R"({"route":"X"})", "X", {some_usage()}));
  kept.push_back(
      live.take_turn("worker", turn_of({{"c1", "tool", "{\"a\":1}"}, {"c2", "tool", "not json"}})));
  kept.push_back(live.finish_call("worker", "c1", R"({"ok":true})"));

  auto const again = Progress::from(kept).value();

  for (auto const* progress : std::vector<Progress const*>{&live, &again}) {
    EXPECT_EQ(progress->results(), (flow::Results{{"router", R"({"route":"X"})"}}));
    EXPECT_EQ(progress->last_stage(), "router");
    EXPECT_EQ(progress->last_label(), "X");
    EXPECT_EQ(progress->booked(), std::vector<Usage>{some_usage()});
    EXPECT_EQ(texts(*progress), (std::vector<std::string>{"Let me \"look\".", R"({"ok":true})"}));
    EXPECT_EQ(progress->conversation()[0].reasoning, "hm\n");
    ASSERT_EQ(progress->pending().size(), 1U);
    EXPECT_EQ(progress->pending()[0], (ToolCall{"c2", "tool", "not json"}));
    EXPECT_EQ(progress->turns(), 1);
    EXPECT_EQ(progress->place_of(progress->pending().back().id), 1U);
    EXPECT_EQ(progress->rejections(), 0);
    EXPECT_EQ(progress->all_calls(), 2);
    EXPECT_EQ(progress->all_rejections(), 1);
    EXPECT_EQ(progress->all_answers(), 3);
  }
}

TEST(Progress, V2_6_WhatWasWrongIsKnownAfterACrash) {
  Progress first;
  std::vector<store::Checkpoint> kept{first.reject_output("a", " ", "say something", Fault::empty),
                                      first.reject_output("a", "{", "be brief", Fault::cut)};
  auto const again = Progress::from(kept).value();
  EXPECT_EQ(again.rejections(), 2);
  EXPECT_EQ(again.cuts(), 1);
  EXPECT_EQ(again.last_fault(), Fault::cut);
  EXPECT_TRUE(again.rejected_words());
  EXPECT_EQ(again.conversation().size(), 3U) << "blanks are not repeated";

  std::vector<store::Checkpoint> const old{{1, "a", "rejected", R"({"output":"x","repair":"y"})"}};
  EXPECT_EQ(Progress::from(old).value().last_fault(), Fault::contract);
}

TEST(Progress, RUN_12_NumbersGoOnWhereTheyWere) {
  Progress first;
  std::vector<store::Checkpoint> kept{first.finish_stage("a", "{}", "", {})};
  auto again = Progress::from(kept).value();
  EXPECT_EQ(again.finish_stage("b", "{}", "", {}).number, 2);
}

TEST(Progress, RUN_12_WhatIsNoCheckpointIsRefused) {
  for (auto const& bad :
       {store::Checkpoint{1, "a", "stage", "{"}, store::Checkpoint{1, "a", "other", "{}"},
        store::Checkpoint{2, "a", "turn", "{}"}, store::Checkpoint{1, "a", "stage", "{}"}}) {
    EXPECT_FALSE(Progress::from({bad})) << bad.body;
  }
}

}  // namespace
}  // namespace runnel::runtime
