#include "runnel/runtime/model_calls/call_preview.h"

#include <gtest/gtest.h>

#include <variant>

namespace runnel::runtime {
namespace {

std::vector<Fact> facts_of(std::vector<std::string> const& pieces) {
  CallPreview preview{1};
  std::vector<Fact> facts;
  for (auto const& piece : pieces)
    preview.feed(piece, facts);
  return facts;
}

std::vector<std::string> letter_by_letter(std::string const& text) {
  std::vector<std::string> out;
  for (char const c : text)
    out.emplace_back(1, c);
  return out;
}

TEST(CallPreview, TASK_6_MethodIsKnownBeforeTheArgumentsAreComplete) {
  auto const facts = facts_of({R"({"module":"cal)", R"(endar","method":"create")", R"(,"input":{"title":)"});

  EXPECT_EQ(facts, (std::vector<Fact>{ToolPreparing{"calendar.create:1", "calendar.create", ""}}));
}

TEST(CallPreview, TASK_6_IntentFollowsAsSoonAsItCanBeRead) {
  auto const facts = facts_of(letter_by_letter(
      R"({"method":"create","module":"calendar","input":{"intent":"no"},"intent":"Book \"lunch\""})"));

  EXPECT_EQ(facts, (std::vector<Fact>{
                       ToolPreparing{"calendar.create:1", "calendar.create", ""},
                       ToolIntent{"calendar.create:1", "calendar.create", "Book \"lunch\""},
                   }));
}

TEST(CallPreview, TASK_6_IntentIsNeverToldBeforeTheMethod) {
  auto const facts = facts_of(letter_by_letter(R"({"intent":"Lunch","module":"calendar","method":"read"})"));

  EXPECT_EQ(facts, (std::vector<Fact>{
                       ToolPreparing{"calendar.read:1", "calendar.read", "Lunch"},
                       ToolIntent{"calendar.read:1", "calendar.read", "Lunch"},
                   }));
}

TEST(CallPreview, TASK_6_WhatCannotBeAMethodIsNotAnnounced) {
  for (auto const* const arguments :
       {R"({"module":"../etc","method":"read"})", R"({"module":"calendar","method":"a b"})",
        R"({"module":7,"method":"read"})", R"({"module":"","method":"read"})", R"(["module","method"])",
        R"(not JSON)"}) {
    EXPECT_TRUE(facts_of({arguments}).empty()) << arguments;
  }
}

TEST(CallPreview, TASK_6_LongIntentIsCut) {
  auto const facts =
      facts_of({R"({"module":"calendar","method":"read","intent":")" + std::string(5000, 'x') + R"("})"});

  ASSERT_EQ(facts.size(), 2U);
  EXPECT_LT(std::get<ToolIntent>(facts[1]).intent.size(), 600U);
}

}  // namespace
}  // namespace runnel::runtime
