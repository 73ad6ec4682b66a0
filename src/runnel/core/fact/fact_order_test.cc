#include "runnel/core/fact/fact_order.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "runnel/core/testing/fact_samples.h"

namespace runnel {
namespace {

MessageId const kMessage{"m1"};
MessageId const kOther{"m2"};
ToolCallId const kCall{"c1"};

TextDelta delta(MessageId message, std::string text) {
  return {std::move(message), std::move(text), 1, 0};
}
AnswerCompleted answer(MessageId message) {
  AnswerCompleted fact;
  fact.message = std::move(message);
  return fact;
}
ToolCallStarted call_started() {
  return {kMessage, kCall, "project_cli", "worker"};
}
ToolArgs call_args() {
  return {kMessage, kCall, "project_cli", "worker", JsonText::empty_object()};
}
ToolCallEnded call_ended() {
  return {kMessage, kCall, "project_cli", "worker"};
}
ToolStarted tool_started() {
  return {"a1", kCall, "calendar.read", JsonText::empty_object(), "p1"};
}
ToolResult tool_result() {
  ToolResult fact;
  fact.call = kCall;
  return fact;
}
ApprovalChanged approval() {
  ApprovalChanged fact;
  fact.call = kCall;
  return fact;
}

// The state after these facts, each of which must be accepted.
FactOrder after(std::initializer_list<Fact> facts) {
  FactOrder order;
  for (auto const& fact : facts)
    EXPECT_TRUE(order.accept(fact)) << "fact " << fact.index();
  return order;
}

bool refuses(FactOrder order, Fact const& fact) {
  auto const result = order.accept(fact);
  return !result && result.error().code == Errc::internal;
}

TEST(FactOrder, BeginsWithTheStartAFailureOrANewWriter) {
  for (auto const& record : fact_samples()) {
    auto const& fact = record.fact;
    bool const may_begin = std::holds_alternative<RunStarted>(fact) ||
                           std::holds_alternative<RunFailed>(fact) ||
                           std::holds_alternative<WriterChanged>(fact);
    EXPECT_EQ(refuses({}, fact), !may_begin) << fact.index();
  }
}

TEST(FactOrder, StartsOnce) {
  EXPECT_TRUE(refuses(after({RunStarted{}}), RunStarted{}));
}

TEST(FactOrder, TakesNothingAfterATerminal) {
  for (Fact const& end : {Fact{RunFinished{}}, Fact{RunFailed{}}, Fact{RunCanceled{}}}) {
    auto const order = after({RunStarted{}, end});
    EXPECT_TRUE(order.ended());
    for (auto const& record : fact_samples())
      EXPECT_TRUE(refuses(order, record.fact)) << record.fact.index();
  }
}

TEST(FactOrder, EndsOnlyWithNothingOpen) {
  for (Fact const& end : {Fact{RunFinished{}}, Fact{RunFailed{}}, Fact{RunCanceled{}}}) {
    EXPECT_TRUE(refuses(after({RunStarted{}, StepStarted{"worker"}}), end));
    EXPECT_TRUE(refuses(after({RunStarted{}, TextStarted{kMessage, "worker"}}), end));
    EXPECT_TRUE(refuses(after({RunStarted{}, ReasoningOpened{kMessage}}), end));
    EXPECT_TRUE(refuses(after({RunStarted{}, call_started()}), end));
  }
}

TEST(FactOrder, AGUI_6_ARunMayFinishWithExactlyTheCallsThatItNamesOpen) {
  ToolCallId const other{"c2"};
  RunFinished finished;
  finished.pending_calls = {kCall};
  auto const asked = after({RunStarted{}, call_started(), call_args(), call_ended()});
  EXPECT_TRUE(refuses(asked, RunFinished{}));
  EXPECT_TRUE(refuses(asked, RunCanceled{}));
  auto order = asked;
  ASSERT_TRUE(order.accept(finished));
  EXPECT_TRUE(order.ended());
  EXPECT_TRUE(order.open_calls().empty());

  for (auto const& ids : {std::vector{other}, std::vector{kCall, other}, std::vector{kCall, kCall}}) {
    finished.pending_calls = ids;
    EXPECT_TRUE(refuses(asked, finished));
  }
  finished.pending_calls = {kCall};
  EXPECT_TRUE(refuses(after({RunStarted{}, call_started(), call_args(), call_ended(),
                             ToolCallStarted{kOther, other, "set_color", "worker"}}),
                      finished));
  EXPECT_TRUE(refuses(after({RunStarted{}}), finished));
  EXPECT_TRUE(refuses(after({RunStarted{}, call_started(), call_args()}), finished));
  EXPECT_TRUE(refuses(after({RunStarted{}, call_started(), call_ended()}), finished));
  EXPECT_TRUE(refuses(after({RunStarted{}, StepStarted{"worker"}, call_started(), call_args(), call_ended()}),
                      finished));
  EXPECT_TRUE(
      refuses(after({RunStarted{}, call_started(), call_args(), call_ended(), tool_started()}), finished));
  EXPECT_TRUE(
      refuses(after({RunStarted{}, call_started(), call_args(), call_ended(), approval()}), finished));
  EXPECT_TRUE(
      refuses(after({RunStarted{}, call_started(), call_args(), call_ended(), tool_result()}), finished));
}

TEST(FactOrder, AGUI_6_CallsOfEarlierRunsAreClosedOnceAndBeforeTheFirstStage) {
  ClientCallClosed closed;
  closed.call = kCall;
  EXPECT_TRUE(refuses({}, closed));
  auto order = after({RunStarted{}, closed});
  EXPECT_TRUE(refuses(order, closed));
  closed.call = ToolCallId{"c2"};
  ASSERT_TRUE(order.accept(closed));
  closed.call = ToolCallId{"c3"};
  EXPECT_TRUE(refuses(after({RunStarted{}, StepStarted{"worker"}}), closed));
  EXPECT_TRUE(refuses(after({RunStarted{}, StepStarted{"worker"}, StepFinished{"worker"}}), closed));
}

TEST(FactOrder, ANewWriterChangesNothingElse) {
  auto const order =
      after({RunStarted{}, TextStarted{kMessage, "worker"}, delta(kMessage, "so far"), WriterChanged{1, 3}});

  EXPECT_EQ(order.writer_changes(), 1);
  EXPECT_EQ(order.open_text()->text, "so far");
}

TEST(FactOrder, HasOneOpenStepAtATime) {
  auto const order = after({RunStarted{}, StepStarted{"router"}});
  EXPECT_TRUE(refuses(order, StepStarted{"worker"}));
  EXPECT_TRUE(refuses(order, StepFinished{"worker"}));

  auto const later =
      after({RunStarted{}, StepStarted{"router"}, StepFinished{"router"}, StepStarted{"worker"}});
  EXPECT_EQ(later.finished_steps(), std::vector<std::string>{"router"});
  EXPECT_EQ(later.open_step(), "worker");
}

TEST(FactOrder, RepliesOnce) {
  auto const order = after({RunStarted{}, ReplyStarted{}});
  EXPECT_TRUE(order.replied());
  EXPECT_TRUE(refuses(order, ReplyStarted{}));
}

TEST(FactOrder, TextNeedsItsOwnOpenMessage) {
  auto const closed = after({RunStarted{}});
  auto const open = after({RunStarted{}, TextStarted{kMessage, "worker"}});
  for (auto const* order : {&closed, &open}) {
    EXPECT_TRUE(refuses(*order, delta(kOther, "x")));
    EXPECT_TRUE(refuses(*order, TextEnded{kOther, "worker", "", TextOutcome::complete}));
    EXPECT_TRUE(refuses(*order, answer(kOther)));
  }
  EXPECT_TRUE(refuses(open, TextStarted{kOther, "worker"}));
}

TEST(FactOrder, KeepsTheTextSoFar) {
  auto const order =
      after({RunStarted{}, TextStarted{kMessage, "worker"}, delta(kMessage, "Hel"), delta(kMessage, "lo")});
  EXPECT_EQ(order.open_text()->text, "Hello");
  EXPECT_EQ(order.open_text()->chunks, 2);
  EXPECT_EQ(order.open_text()->stage, "worker");
}

TEST(FactOrder, AnswersOnceAndClosesTheMessage) {
  auto order = after({RunStarted{}, TextStarted{kMessage, "worker"}, answer(kMessage)});
  EXPECT_TRUE(order.answered());
  EXPECT_FALSE(order.open_text());

  ASSERT_TRUE(order.accept(TextStarted{kOther, "worker"}));
  EXPECT_TRUE(refuses(order, answer(kOther)));
}

TEST(FactOrder, AReasoningSpanHoldsOneMessage) {
  auto const opened = after({RunStarted{}, ReasoningOpened{kMessage}});
  EXPECT_TRUE(refuses(opened, ReasoningOpened{kOther}));
  EXPECT_TRUE(refuses(opened, ReasoningDelta{kMessage, "x"}));
  EXPECT_TRUE(refuses(opened, ReasoningEnded{kMessage, ""}));

  auto order = after({RunStarted{}, ReasoningOpened{kMessage}, ReasoningStarted{kMessage},
                      ReasoningDelta{kMessage, "h"}, ReasoningDelta{kMessage, "m"}});
  EXPECT_EQ(order.open_reasoning()->text, "hm");
  EXPECT_TRUE(refuses(order, ReasoningClosed{kMessage}));

  ASSERT_TRUE(order.accept(ReasoningEnded{kMessage, "hm"}));
  EXPECT_TRUE(refuses(order, ReasoningStarted{kMessage}));
  ASSERT_TRUE(order.accept(ReasoningClosed{kMessage}));
  EXPECT_FALSE(order.open_reasoning());
}

TEST(FactOrder, USE_10_KeepsTheThoughtsOfACallUntilItIsSettled) {
  auto order = after({RunStarted{}, ReasoningOpened{kMessage}, ReasoningStarted{kMessage},
                      ReasoningDelta{kMessage, "hm"}, ReasoningEnded{kMessage, "hm"}});
  EXPECT_EQ(order.unsettled_reasoning(), "");
  ASSERT_TRUE(order.accept(ReasoningClosed{kMessage}));
  EXPECT_EQ(order.unsettled_reasoning(), "hm");
  ASSERT_TRUE(order.accept(UsageRecorded{}));
  EXPECT_EQ(order.unsettled_reasoning(), "");
}

TEST(FactOrder, USE_10_KeepsTheWordsOfACallUntilItIsSettled) {
  auto order = after({RunStarted{}, TextStarted{kMessage, "worker"}, TextDelta{kMessage, "hm", 1, 0}});
  EXPECT_FALSE(order.unsettled_text());
  ASSERT_TRUE(order.accept(TextEnded{kMessage, "worker", "hm", TextOutcome::complete}));
  ASSERT_TRUE(order.unsettled_text());
  EXPECT_EQ(order.unsettled_text()->message, kMessage);
  EXPECT_EQ(order.unsettled_text()->text, "hm");
  ASSERT_TRUE(order.accept(UsageRecorded{}));
  EXPECT_FALSE(order.unsettled_text());
}

TEST(FactOrder, USE_10_WordsThatEndAfterTheirCallIsSettledAreNotKept) {
  auto const order = after({RunStarted{}, TextStarted{kMessage, "worker"}, TextDelta{kMessage, "hm", 1, 0},
                            UsageRecorded{}, TextEnded{kMessage, "worker", "hm", TextOutcome::complete}});
  EXPECT_FALSE(order.unsettled_text());
}

TEST(FactOrder, ACallStreamsItsArgumentsThenRunsThenHasAResult) {
  auto order = after({RunStarted{}, call_started(), ToolArgsDelta{kCall, "{"}, ToolArgsDelta{kCall, "}"}});
  EXPECT_EQ(order.open_calls().at(kCall).args_text, "{}");
  EXPECT_TRUE(refuses(order, call_started()));
  EXPECT_TRUE(refuses(order, tool_started()));
  EXPECT_TRUE(refuses(order, tool_result()));

  ASSERT_TRUE(order.accept(call_args()));
  EXPECT_TRUE(refuses(order, ToolArgsDelta{kCall, "x"}));
  ASSERT_TRUE(order.accept(call_ended()));
  EXPECT_TRUE(refuses(order, call_args()));
  EXPECT_TRUE(refuses(order, ToolProgress{"a1", "working", {}}));
  ASSERT_TRUE(order.accept(tool_started()));
  EXPECT_TRUE(refuses(order, tool_started()));
  ASSERT_TRUE(order.accept(ToolProgress{"a1", "working", {}}));
  ASSERT_TRUE(order.accept(approval()));

  ASSERT_TRUE(order.accept(tool_result()));
  EXPECT_TRUE(order.open_calls().empty());
  EXPECT_TRUE(refuses(order, tool_result()));
}

TEST(FactOrder, RUN_4_ACanceledCallHasAResultWithoutHavingRun) {
  after({RunStarted{}, call_started(), call_args(), call_ended(), tool_result(), RunCanceled{}});
  after({RunStarted{}, call_started(), ToolArgsDelta{kCall, "{\"mo"}, call_ended(), tool_result(),
         RunCanceled{}});
}

TEST(FactOrder, AGUI_4_APauseTakesItsFourStepsInOrder) {
  auto order =
      after({RunStarted{}, StepStarted{"worker"}, call_started(), call_args(), call_ended(), approval()});
  EXPECT_TRUE(refuses(order, RunPaused{}));
  EXPECT_TRUE(refuses(order, RunResumed{}));
  EXPECT_TRUE(refuses(order, StepResumed{"worker"}));

  ASSERT_TRUE(order.accept(StepPaused{"worker"}));
  EXPECT_TRUE(refuses(order, StepResumed{"worker"}));
  ASSERT_TRUE(order.accept(RunPaused{}));
  ASSERT_TRUE(order.accept(WriterChanged{1, 8}));
  EXPECT_TRUE(refuses(order, tool_result()));
  ASSERT_TRUE(order.accept(RunResumed{RunId{"r~2"}}));
  EXPECT_TRUE(refuses(order, tool_result()));
  ASSERT_TRUE(order.accept(StepResumed{"worker"}));
  ASSERT_TRUE(order.accept(tool_result()));
}

TEST(FactOrder, AGUI_4_NothingIsStreamingWhenARunPauses) {
  EXPECT_TRUE(refuses(after({RunStarted{}, TextStarted{kMessage, "worker"}}), RunPaused{}));
  EXPECT_TRUE(refuses(after({RunStarted{}, call_started()}), RunPaused{}));
}

TEST(FactOrder, RUN_4_OpenCallsAreKnownInTheOrderInWhichTheyWereAskedFor) {
  auto order = after({RunStarted{}, StepStarted{"worker"}});
  for (auto const* id : {"z", "a", "m"})
    ASSERT_TRUE(order.accept(ToolCallStarted{kMessage, ToolCallId{id}, "project_cli", "worker"}));

  EXPECT_EQ(order.calls_in_order(),
            (std::vector<ToolCallId>{ToolCallId{"z"}, ToolCallId{"a"}, ToolCallId{"m"}}));
}

TEST(FactOrder, ARefusedFactLeavesTheStateAsItWas) {
  auto order =
      after({RunStarted{}, StepStarted{"worker"}, TextStarted{kMessage, "worker"}, delta(kMessage, "a")});

  ASSERT_FALSE(order.accept(answer(kOther)));
  ASSERT_FALSE(order.accept(RunFinished{}));

  EXPECT_FALSE(order.answered());
  EXPECT_FALSE(order.ended());
  EXPECT_EQ(order.open_text()->text, "a");
}

}  // namespace
}  // namespace runnel
