#include "runnel/model/openai/tool_calls.h"

#include <gtest/gtest.h>

namespace runnel::model {
namespace {

ToolCallDelta fragment(std::optional<std::int64_t> index, std::string id, std::string name,
                       std::string arguments) {
  ToolCallDelta delta;
  delta.index = index;
  delta.id = std::move(id);
  delta.name = std::move(name);
  delta.arguments = std::move(arguments);
  return delta;
}

struct Assembled {
  std::vector<ToolCall> calls;
  std::vector<ToolCallPiece> pieces;
  bool good = true;
};

Assembled assemble(std::vector<std::vector<ToolCallDelta>> chunks) {
  ToolCallAssembler assembler;
  Assembled out;
  std::vector<CallEvent> events;
  for (auto& chunk : chunks)
    out.good = out.good && assembler.add(std::move(chunk), events);
  out.good = out.good && assembler.finish(events);
  out.calls = assembler.take();
  for (auto const& event : events)
    out.pieces.push_back(std::get<ToolCallPiece>(event));
  return out;
}

// The pieces, put together by a reader, must be the calls that are executed.
void expect_shown_as_made(Assembled const& all) {
  std::vector<ToolCall> shown;
  for (auto const& piece : all.pieces) {
    if (!piece.id.empty()) {
      EXPECT_EQ(piece.index, shown.size());
      EXPECT_FALSE(piece.name.empty());
      shown.push_back({piece.id, piece.name, ""});
    }
    ASSERT_LT(piece.index, shown.size());
    shown[piece.index].arguments += piece.arguments;
  }
  for (auto& call : shown) {
    if (call.arguments.empty()) call.arguments = "{}";
  }
  EXPECT_EQ(shown, all.calls);
}

TEST(ToolCalls, USE_10_FragmentsJoinByIndex) {
  auto const all = assemble({{fragment(0, "a", "f", "")},
                             {fragment(1, "b", "g", "{\"y\"")},
                             {fragment(0, "", "", "{\"x\":")},
                             {fragment(1, "", "", ":2}"), fragment(0, "", "", "1}")}});

  EXPECT_EQ(all.calls, (std::vector<ToolCall>{{"a", "f", "{\"x\":1}"}, {"b", "g", "{\"y\":2}"}}));
  expect_shown_as_made(all);
}

TEST(ToolCalls, USE_10_EmptyAndRepeatedNamesAndIdsChangeNothing) {
  auto const all =
      assemble({{fragment(0, "a", "f", "{")}, {fragment(0, "a", "f", "}")}, {fragment(0, "", "", "")}});

  EXPECT_EQ(all.calls, (std::vector<ToolCall>{{"a", "f", "{}"}}));
  expect_shown_as_made(all);
}

TEST(ToolCalls, USE_10_WholeCallInOneFragment) {
  auto const all = assemble({{fragment(0, "a", "f", "{\"x\":1}"), fragment(1, "b", "f", "{}")}});

  EXPECT_EQ(all.calls.size(), 2U);
  expect_shown_as_made(all);
}

TEST(ToolCalls, USE_10_NoArgumentsAreAnEmptyObject) {
  EXPECT_EQ(assemble({{fragment(0, "a", "f", "")}}).calls, (std::vector<ToolCall>{{"a", "f", "{}"}}));
  EXPECT_EQ(assemble({{fragment(0, "a", "f", " \n")}}).calls, (std::vector<ToolCall>{{"a", "f", "{}"}}));
}

TEST(ToolCalls, USE_10_MissingIndexFallsBackToTheId) {
  auto const all = assemble({{fragment({}, "a", "f", "{")},
                             {fragment({}, "b", "g", "[")},
                             {fragment({}, "a", "", "}")},
                             {fragment({}, "b", "", "]")}});

  EXPECT_EQ(all.calls, (std::vector<ToolCall>{{"a", "f", "{}"}, {"b", "g", "[]"}}));
  expect_shown_as_made(all);
}

TEST(ToolCalls, USE_10_MissingIndexAndIdFallBackToThePosition) {
  auto const all = assemble({{fragment({}, "", "f", "{"), fragment({}, "", "g", "[")},
                             {fragment({}, "", "", "}"), fragment({}, "", "", "]")}});

  ASSERT_EQ(all.calls.size(), 2U);
  EXPECT_EQ(all.calls[0].arguments, "{}");
  EXPECT_EQ(all.calls[1].arguments, "[]");
  expect_shown_as_made(all);
}

TEST(ToolCalls, USE_10_LoneFragmentWithoutAnythingContinuesTheLastCall) {
  auto const all =
      assemble({{fragment({}, "a", "f", "{}")}, {fragment({}, "b", "g", "{")}, {fragment({}, "", "", "}")}});

  EXPECT_EQ(all.calls, (std::vector<ToolCall>{{"a", "f", "{}"}, {"b", "g", "{}"}}));
}

TEST(ToolCalls, USE_10_SameToolAgainWithoutIndexIsAnotherCall) {
  auto const all = assemble({{fragment({}, "", "f", "{\"x\":1}")}, {fragment({}, "", "f", "{\"x\":2}")}});

  ASSERT_EQ(all.calls.size(), 2U);
  EXPECT_EQ(all.calls[1].arguments, "{\"x\":2}");
}

TEST(ToolCalls, USE_10_AnotherIdUnderAUsedIndexIsAnotherCall) {
  auto const all =
      assemble({{fragment(0, "a", "f", "{}")}, {fragment(0, "b", "f", "{")}, {fragment(0, "", "", "}")}});

  EXPECT_EQ(all.calls, (std::vector<ToolCall>{{"a", "f", "{}"}, {"b", "f", "{}"}}));
  expect_shown_as_made(all);
}

TEST(ToolCalls, USE_10_MissingIdIsMade) {
  auto const all = assemble({{fragment(0, "", "f", "{}")}, {fragment(1, "", "g", "")}});

  ASSERT_EQ(all.calls.size(), 2U);
  EXPECT_TRUE(all.calls[0].id.starts_with("call_"));
  EXPECT_NE(all.calls[0].id, all.calls[1].id);
  expect_shown_as_made(all);
}

TEST(ToolCalls, USE_10_LateIdIsTakenWhileNothingWasShown) {
  auto const all = assemble({{fragment(0, "", "f", "")}, {fragment(0, "late", "", "{}")}});

  EXPECT_EQ(all.calls, (std::vector<ToolCall>{{"late", "f", "{}"}}));
  expect_shown_as_made(all);
}

TEST(ToolCalls, USE_10_IdsAreUnique) {
  auto const all = assemble({{fragment(0, "same", "f", "{}"), fragment(1, "same", "g", "{}")}});

  ASSERT_EQ(all.calls.size(), 2U);
  EXPECT_EQ(all.calls[0].id, "same");
  EXPECT_NE(all.calls[1].id, "same");
  expect_shown_as_made(all);
}

TEST(ToolCalls, USE_10_NameThatComesLaterIsWaitedFor) {
  auto const all = assemble({{fragment(0, "a", "", "{")}, {fragment(0, "", "f", "}")}});

  EXPECT_EQ(all.calls, (std::vector<ToolCall>{{"a", "f", "{}"}}));
  expect_shown_as_made(all);
}

TEST(ToolCalls, USE_10_ArgumentsWithoutANameAreNoCall) {
  EXPECT_FALSE(assemble({{fragment(0, "a", "", "{}")}}).good);
}

TEST(ToolCalls, USE_10_EmptyFragmentIsNoCall) {
  auto const all = assemble({{fragment(7, "", "", "")}});

  EXPECT_TRUE(all.good);
  EXPECT_TRUE(all.calls.empty());
}

TEST(ToolCalls, USE_10_ArgumentsThatAreNoJsonStayAsTheyAre) {
  EXPECT_EQ(assemble({{fragment(0, "a", "f", "{\"x\":")}}).calls[0].arguments, "{\"x\":");
}

TEST(ToolCalls, TooManyCallsOrArgumentsAreRefused) {
  std::vector<ToolCallDelta> many;
  for (int i = 0; i < 129; ++i)
    many.push_back(fragment(i, "", "f", "{}"));
  EXPECT_FALSE(assemble({many}).good);
  EXPECT_FALSE(assemble({{fragment(0, "a", "f", std::string(5'000'000, ' '))}}).good);
}

}  // namespace
}  // namespace runnel::model
