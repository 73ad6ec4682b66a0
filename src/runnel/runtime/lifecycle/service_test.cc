#include "runnel/runtime/lifecycle/service.h"

#include <gtest/gtest.h>

#include <thread>

#include "runnel/base/log/log.h"
#include "runnel/runtime/testing/scripted_provider.h"
#include "runnel/runtime/testing/test_life.h"
#include "runnel/store/testing/sqlite_under_test.h"

namespace runnel::runtime {
namespace {

using store::RunStatus;

using Names = std::vector<std::string>;
using std::chrono::milliseconds;

class ServiceTest : public testing::Test {
 protected:
  // Makes it look as if the earlier processes had crashed.
  void forget_releases() { store::sqlite_rows(path, "UPDATE runs SET released = 0").value(); }

  // Stops a server with r1 in the middle of its answer and r2 in the queue.
  void leave_two_runs() {
    Life life{path, milliseconds{1}, 5000};
    life.start("r1", "hello");
    life.start("r2", "two", store::OnBusy::enqueue);
    life.reach("r1", 20);
  }

  std::string cell(std::string const& sql) { return store::sqlite_rows(path, sql).value().at(0).at(0); }

  // Expects that r1 was ended by force and that r2 has completed.
  void expect_ended_by_force() {
    Life life{path, milliseconds{0}};
    auto const row = life.ended("r1");
    EXPECT_EQ(row.status, RunStatus::failed);
    EXPECT_EQ(row.error_code, "RUN_INTERRUPTED");
    EXPECT_FALSE(row.error_id.empty());
    EXPECT_TRUE(row.log_expired);
    EXPECT_EQ(life.ended("r2").status, RunStatus::completed);
    EXPECT_EQ(cell("SELECT count(*) FROM model_calls WHERE message_id IS NULL"), "0") << "I4";
    EXPECT_EQ(cell("SELECT count(*) FROM model_calls WHERE status = 'open'"), "0");
  }

  store::TemporaryFolder folder;
  std::string path = folder.file("runnel.db");
};

TEST_F(ServiceTest, RUN_1_RunGoesFromItsInputToItsEnd) {
  Life life{path, milliseconds{0}};

  auto const started = std::get<Started>(life.start("r1", "hello"));

  EXPECT_TRUE(started.created);
  EXPECT_EQ(life.ended("r1").status, RunStatus::completed);
  EXPECT_EQ(life.facts("r1"), (Names{"run_started", "step_started", "reply_started", "text_started",
                                     "usage_recorded", "answer_completed", "step_finished", "run_finished"}));
  auto const history = life.history();
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].content, "hello");
  EXPECT_EQ(history[1].seq, 2);
}

TEST_F(ServiceTest, RUN_2_SameRunIdSameRun) {
  Life life{path, milliseconds{0}};
  life.start("r1", "hello");
  EXPECT_FALSE(std::get<Started>(life.start("r1", "hello")).created);
  EXPECT_EQ(std::get<Refusal>(life.start("r1", "other")).code, "RUN_ID_CONFLICT");
  life.ended("r1");
}

TEST_F(ServiceTest, RUN_3_EnqueuedRunsComeInOrder) {
  Life life{path, milliseconds{1}};
  life.start("r1", "one");
  EXPECT_EQ(std::get<Refusal>(life.start("r2", "two")).code, "THREAD_BUSY");
  life.start("r2", "two", store::OnBusy::enqueue);
  life.start("r3", "three", store::OnBusy::enqueue);

  life.ended("r3");

  Names asked;
  for (auto const& message : life.history()) {
    if (message.role == store::Role::user) asked.push_back(message.content);
  }
  EXPECT_EQ(asked, (Names{"one", "two", "three"}));
}

TEST_F(ServiceTest, HTTP_6_RunBeyondTheUsersLimitIsRefusedUntilOneHasEnded) {
  Life life{path, milliseconds{10}, 3000};
  life.start("r1", "one");
  life.start("r2", "two", store::OnBusy::enqueue);
  life.start("r3", "three", store::OnBusy::enqueue);

  auto const refusal = std::get<Refusal>(life.start("r4", "four", store::OnBusy::interrupt));

  EXPECT_EQ(refusal.kind, Refusal::Kind::too_many);
  EXPECT_EQ(refusal.code, "TOO_MANY_RUNS");
  EXPECT_EQ(refusal.details, R"({"limit":3})");
  EXPECT_FALSE(life.row("r1").cancel_requested);
  EXPECT_FALSE(std::get<Started>(life.start("r3", "three")).created) << "RUN-2 has no limit";
  life.cancel("r3");
  EXPECT_TRUE(std::get<Started>(life.start("r4", "four", store::OnBusy::enqueue)).created);
}

TEST_F(ServiceTest, RUN_3_InterruptCancelsTheActiveRunFirst) {
  Life life{path, milliseconds{1}, 5000};
  life.start("r1", "one");
  life.start("r2", "two", store::OnBusy::interrupt);

  EXPECT_EQ(life.ended("r1").status, RunStatus::canceled);
  life.reach("r2", 5);
  life.cancel("r2");
  life.ended("r2");
}

TEST_F(ServiceTest, RUN_3_RollbackTakesTheRunOutOfHistory) {
  Life life{path, milliseconds{1}, 5000};
  life.start("r1", "one");
  life.reach("r1", 10);
  life.start("r2", "two", store::OnBusy::rollback);
  life.ended("r1");
  life.reach("r2", 3);

  auto const history = life.history();
  ASSERT_FALSE(history.empty());
  EXPECT_EQ(history[0].content, "two");
  EXPECT_GT(history[0].seq, 1);
  life.cancel("r2");
  life.ended("r2");
}

TEST_F(ServiceTest, RUN_4_CancelClosesWhatIsOpenAndKeepsThePartialText) {
  Life life{path, milliseconds{1}, 5000};
  life.start("r1", "hello");
  life.reach("r1", 20);

  EXPECT_FALSE(life.cancel("r1").had_ended);

  EXPECT_EQ(life.ended("r1").status, RunStatus::canceled);
  EXPECT_EQ(life.facts("r1"), (Names{"run_started", "step_started", "reply_started", "text_started",
                                     "usage_recorded", "text_ended", "step_finished", "run_canceled"}));
  EXPECT_TRUE(life.cancel("r1").had_ended);
  ASSERT_EQ(life.history().size(), 2U);
  EXPECT_FALSE(life.history()[1].content.empty());
}

TEST_F(ServiceTest, RUN_4_QueuedRunIsCancelledWithoutEverBeginning) {
  Life life{path, milliseconds{1}, 5000};
  life.start("r1", "one");
  life.start("r2", "two", store::OnBusy::enqueue);

  EXPECT_EQ(life.cancel("r2").status, RunStatus::canceled);

  EXPECT_EQ(life.facts("r2"), (Names{"run_started", "run_canceled"}));
  life.cancel("r1");
  life.ended("r1");
}

TEST_F(ServiceTest, HTTP_7_RunsAreCounted) {
  Life life{path, milliseconds{1}, 5000};
  life.start("r1", "one");
  life.start("r2", "two", store::OnBusy::enqueue);
  life.start("r3", "three", store::OnBusy::enqueue);
  EXPECT_EQ(life.series("runnel_runs_active", "1"), "1");
  EXPECT_EQ(life.series("runnel_runs_queued", "2"), "2");
  EXPECT_EQ(life.series("runnel_runs_admitted_total", "3"), "3");
  EXPECT_EQ(life.series("runnel_run_admission_seconds_count", "3"), "3");

  life.cancel("r3");
  EXPECT_EQ(life.series("runnel_runs_queued", "1"), "1");
  life.reach("r1", 20);
  life.cancel("r1");
  life.reach("r2", 20);
  EXPECT_EQ(life.series("runnel_runs_queued", "0"), "0");
  life.cancel("r2");
  life.ended("r2");

  EXPECT_EQ(life.series("runnel_runs_ended_total{status=\"canceled\"}", "3"), "3");
  EXPECT_EQ(life.series("runnel_runs_ended_total{status=\"completed\"}", "0"), "0");
  EXPECT_EQ(life.series("runnel_runs_active", "0"), "0");
}

TEST_F(ServiceTest, HTTP_7_EveryFactIsCountedOnce) {
  Life life{path, milliseconds{0}};
  life.start("r1", "hello");
  auto const last_n = life.ended("r1").last_n;

  auto const others = std::to_string(life.facts("r1").size());
  auto const deltas = std::to_string(last_n - life.facts("r1").size());
  EXPECT_EQ(life.series("runnel_facts_appended_total{kind=\"fact\"}", others), others);
  EXPECT_EQ(life.series("runnel_facts_appended_total{kind=\"delta\"}", deltas), deltas);
}

TEST_F(ServiceTest, HTTP_7_RunsThatAnEarlierProcessLeftAreTakenOver) {
  {
    Life life{path, milliseconds{1}, 5000};
    life.start("r1", "one");
    life.start("r2", "two", store::OnBusy::enqueue);
    life.reach("r1", 10);
  }
  Life life{path, milliseconds{1}, 200};
  life.ended("r2");

  EXPECT_EQ(life.series("runnel_runs_taken_over_total", "1"), "1");
  EXPECT_EQ(life.series("runnel_runs_ended_total{status=\"completed\"}", "2"), "2");
  life.start("r3", "three");
  life.start("r4", "four", store::OnBusy::enqueue);
  EXPECT_EQ(life.series("runnel_runs_queued", "1"), "1");
  life.cancel("r4");
  life.cancel("r3");
  life.ended("r3");
}

TEST_F(ServiceTest, CFG_4_StartAndEndOfARunAreLoggedWithoutItsWords) {
  testing::internal::CaptureStderr();
  base::start_logging({base::LogLevel::info, base::LogFormat::human});
  {
    Life life{path, milliseconds{0}};
    life.start("r1", "canary");
    life.ended("r1");
    life.series("runnel_runs_active", "0");
  }
  base::stop_logging();

  auto const text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("run started run_id=r1 thread_id=t request_id=q1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("run ended run_id=r1 thread_id=t request_id=q1 status=completed ms="),
            std::string::npos);
  EXPECT_EQ(text.find("canary"), std::string::npos);
}

TEST_F(ServiceTest, RUN_12_NextProcessGoesOnUnderANewEpochAndMessage) {
  std::int64_t first_epoch = 0;
  {
    Life life{path, milliseconds{1}, 5000};
    life.start("r1", "hello");
    life.reach("r1", 20);
    first_epoch = life.row("r1").epoch;
  }

  Life life{path, milliseconds{0}};

  auto const row = life.ended("r1");
  EXPECT_EQ(row.status, RunStatus::completed);
  EXPECT_GT(row.epoch, first_epoch);
  EXPECT_EQ(life.facts("r1"),
            (Names{"run_started", "step_started", "reply_started", "text_started", "writer_changed",
                   "text_ended", "usage_recorded", "message_superseded", "text_started", "usage_recorded",
                   "answer_completed", "step_finished", "run_finished"}));
  EXPECT_EQ(life.history().size(), 2U) << "RUN-14: what was superseded is not seen";
}

TEST_F(ServiceTest, RUN_12_RunThatIsInterruptedTooOftenEnds) {
  for (int i = 0; i < 3; ++i) {
    {
      Life life{path, milliseconds{1}, 5000};
      if (i == 0) life.start("r1", "hello");
      life.reach("r1", life.row("r1").last_n + 10);
    }
    forget_releases();
  }

  Life life{path, milliseconds{0}};

  EXPECT_EQ(life.ended("r1").error_code, "RUN_INTERRUPTED");
  EXPECT_EQ(life.facts("r1").back(), "run_failed");
}

TEST_F(ServiceTest, RUN_12_PlannedStopsAreNoCrashes) {
  for (int i = 0; i < 6; ++i) {
    Life life{path, milliseconds{1}, 5000};
    if (i == 0) life.start("r1", "hello");
    life.reach("r1", life.row("r1").last_n + 10);
  }

  Life life{path, milliseconds{0}};

  EXPECT_EQ(life.ended("r1").status, RunStatus::completed);
}

TEST_F(ServiceTest, RUN_12_RunWhoseLogIsNoJsonEnds) {
  leave_two_runs();
  store::sqlite_rows(path, "UPDATE log SET body = 'x' WHERE first_n = 1").value();
  expect_ended_by_force();
}

TEST_F(ServiceTest, RUN_12_RunWhoseLogHoldsAnUnknownFactEnds) {
  leave_two_runs();
  store::sqlite_rows(path, "UPDATE log SET body = replace(body, 'text_started', 'song_started')").value();
  expect_ended_by_force();
}

TEST_F(ServiceTest, RUN_12_RunWhoseLogIsOutOfOrderEnds) {
  leave_two_runs();
  store::sqlite_rows(path, "UPDATE log SET body = replace(body, 'step_started', 'step_finished')").value();
  expect_ended_by_force();
}

TEST_F(ServiceTest, RUN_12_RunWhoseLogDoesNotEndWhereItsRowSaysEnds) {
  leave_two_runs();
  store::sqlite_rows(path, "UPDATE runs SET last_n = 7 WHERE run_ref = 'r1'").value();
  expect_ended_by_force();
  EXPECT_GT(std::stoi(cell("SELECT last_n FROM runs WHERE run_ref = 'r1'")), 9);
}

TEST_F(ServiceTest, RUN_12_RunWithoutALogEnds) {
  leave_two_runs();
  store::sqlite_rows(path, "DELETE FROM log").value();
  expect_ended_by_force();
}

TEST_F(ServiceTest, RUN_12_RunWhoseInputCannotBeReadEndsWithAWholeLog) {
  leave_two_runs();
  store::sqlite_rows(path, "DELETE FROM run_inputs WHERE run_id = 1").value();

  Life life{path, milliseconds{0}};

  EXPECT_EQ(life.ended("r1").error_code, "RUN_INTERRUPTED");
  EXPECT_FALSE(life.row("r1").log_expired);
  EXPECT_EQ(life.facts("r1").back(), "run_failed");
  EXPECT_EQ(life.ended("r2").status, RunStatus::completed);
}

TEST_F(ServiceTest, RUN_12_QueuedRunWhoseInputCannotBeReadEnds) {
  leave_two_runs();
  store::sqlite_rows(path, "UPDATE run_inputs SET input = 'x' WHERE run_id = 2").value();

  Life life{path, milliseconds{0}};

  EXPECT_EQ(life.ended("r2").error_code, "RUN_INTERRUPTED");
  EXPECT_EQ(life.facts("r2"), (Names{"run_started", "run_failed"}));
  EXPECT_FALSE(life.row("r2").log_expired);
  life.start("r3", "three");
  EXPECT_EQ(life.ended("r3").status, RunStatus::completed) << "the thread is free";
}

TEST_F(ServiceTest, RUN_12_StopDuringRecoveryEndsNoRun) {
  {
    Life life{path, milliseconds{1}, 5000};
    life.start("r1", "hello");
    life.reach("r1", 20);
  }
  { Life life{path, milliseconds{1}, 5000}; }

  Life life{path, milliseconds{0}};

  EXPECT_EQ(life.ended("r1").status, RunStatus::completed);
}

TEST_F(ServiceTest, WhateverAModelSaysCanBeKept) {
  ScriptedAttempt const attempt{model::TextPiece{std::string{"a\0b", 3} + "\xff"}, model::CallFinished{}};
  Life life{path, scripted("raw", std::make_shared<Script>(std::vector<ScriptedAttempt>{attempt}))};

  life.start("r1", "hello");

  EXPECT_EQ(life.ended("r1").status, RunStatus::completed);
  EXPECT_EQ(life.history()[1].content, "a\uFFFDb\uFFFD");
}

TEST_F(ServiceTest, RUN_12_QueuedRunsOutliveTheProcess) {
  {
    Life life{path, milliseconds{1}, 5000};
    life.start("r1", "one");
    life.start("r2", "two", store::OnBusy::enqueue);
  }

  Life life{path, milliseconds{0}};

  EXPECT_EQ(life.ended("r2").status, RunStatus::completed);
}

}  // namespace
}  // namespace runnel::runtime
