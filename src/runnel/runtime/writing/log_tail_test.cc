#include "runnel/runtime/writing/log_tail.h"

#include <gtest/gtest.h>

#include "runnel/core/fact/fact_json.h"

namespace runnel::runtime {
namespace {

TEST(LogTail, SSE_1_FactsAreNumberedWithoutGapsAcrossRows) {
  LogTail tail;
  ASSERT_TRUE(tail.add(RunStarted{}, 1));
  ASSERT_TRUE(tail.add(StepStarted{"answer"}, 2));
  auto const first = tail.take();
  EXPECT_TRUE(tail.empty());
  auto const third = tail.add(StepFinished{"answer"}, 3);
  auto const second = tail.take();

  EXPECT_EQ(first.first_n, 1u);
  EXPECT_EQ(first.last_n, 2u);
  EXPECT_EQ(second.first_n, 3u);
  EXPECT_EQ(second.last_n, 3u);
  EXPECT_EQ(third.value().position.n, 3u);
  EXPECT_EQ(parse_log_body(first.body, 7).value().size(), 2u);
  EXPECT_EQ(parse_log_body(second.body, 7).value().at(0).time_us, 3);
}

TEST(LogTail, FactThatDoesNotFitIsRefusedAndChangesNothing) {
  LogTail tail;
  ASSERT_TRUE(tail.add(RunStarted{}, 1));

  EXPECT_EQ(tail.add(RunStarted{}, 1).error().code, Errc::internal);

  EXPECT_EQ(tail.last_n(), 1u);
  EXPECT_EQ(parse_log_body(tail.take().body, 7).value().size(), 1u);
}

TEST(LogTail, RUN_12_LogThatCannotBeReadTakesWhatEndsIt) {
  auto tail = LogTail::of_unreadable(41, 5);

  ASSERT_TRUE(tail.add(WriterChanged{7, 41}, 1));
  ASSERT_TRUE(tail.add(RunFailed{"broken", "RUN_INTERRUPTED", "e", {}}, 1));

  auto const batch = tail.take();
  EXPECT_EQ(batch.first_n, 42u);
  EXPECT_EQ(batch.last_n, 43u);
}

}  // namespace
}  // namespace runnel::runtime
