#include "runnel/store/testing/ledger_contract.h"

// RUN-12: the end of a run that no writer can continue, and the planned hand-over of a run.
namespace runnel::store {
namespace {

class StoreForceEnd : public LedgerContract {
 protected:
  // The request of a node that has just read where the run's log ends.
  ForceEndRequest request_for(RunKey run) {
    auto const seen = run_async(store().log_end(run)).value();
    ForceEndRequest request;
    request.node = NodeId{"node-2"};
    request.seen_epoch = seen.epoch;
    request.end =
        end_request(run, 0, batch(seen.last_n + 1, seen.last_n + 2, "[\"forced\"]"), RunStatus::failed);
    request.end.append.facts.next_idx = seen.next_idx + 1;
    request.end.error_code = "RUN_INTERRUPTED";
    request.end.error_id = "e-1";
    return request;
  }

  void damage_log(RunKey run) {
    sql("UPDATE log SET body = 'x', last_n = 7 WHERE run_id = " + std::to_string(run.value));
  }

  std::int64_t crashes_at_claim(RunKey run) { return claim(run, kNow).crashes; }
};

TEST_P(StoreForceEnd, RUN_12_RunThatCannotBeReadEndsBehindAllThatItsLogHas) {
  auto const run = run_;
  auto const next = admit(admission("r2", OnBusy::enqueue));
  damage_log(run.run);
  auto const request = request_for(run.run);

  auto const ended = run_async(store().force_end(request)).value();

  EXPECT_EQ(request.end.append.facts.first_n, 8u);
  EXPECT_EQ(ended.promoted, next.run);
  auto const after = row(run.run);
  EXPECT_EQ(after.status, RunStatus::failed);
  EXPECT_EQ(after.error_code, "RUN_INTERRUPTED");
  EXPECT_EQ(after.error_id, "e-1");
  EXPECT_EQ(after.last_n, 9u);
  EXPECT_EQ(after.next_idx, request.end.append.facts.next_idx);
  EXPECT_TRUE(after.log_expired);
  EXPECT_GT(after.epoch, run.epoch);
  ASSERT_EQ(after.epochs.size(), 2u);
  EXPECT_EQ(after.epochs[1].first_n, 8u);
  EXPECT_EQ(thread_column("status"), "failed");
}

TEST_P(StoreForceEnd, RUN_12_RunThatNeverBeganEndsWithALogOfItsOwn) {
  auto const first = run_;
  auto const pending = admit(admission("r2", OnBusy::enqueue));
  end(first.run, first.epoch, batch(3, 3));
  auto request = request_for(pending.run);
  request.log_is_lost = false;

  ASSERT_TRUE(run_async(store().force_end(request)));

  auto const after = row(pending.run);
  EXPECT_EQ(after.status, RunStatus::failed);
  EXPECT_EQ(after.last_n, 2u);
  EXPECT_FALSE(after.log_expired);
  EXPECT_EQ(run_async(store().read_log(pending.run, 0, 1000)).value().at(0).epoch, after.epoch);
}

TEST_P(StoreForceEnd, RunWithoutItsInputIsStillFound) {
  auto const run = run_;
  sql("DELETE FROM run_inputs");

  EXPECT_EQ(run_async(store().runs_to_recover(RunKey{}, 10)).value().at(0).key, run.run);
  EXPECT_EQ(row(run.run).input, "");
}

TEST_P(StoreForceEnd, I4_CallsThatWereLeftAreEndedAndBooked) {
  auto const run = run_;
  ASSERT_TRUE(open("c1"));
  ASSERT_TRUE(open("c2"));
  auto request = request_for(run.run);
  auto bill = audit("a1");
  bill.cost = Money{7};
  request.end.append.messages = {bill};
  request.end.append.call_ends = {call_end("c1", Money{7})};
  request.end.append.bookings = {booking("c1", "a1", Money{7})};

  ASSERT_TRUE(run_async(store().force_end(request)));

  EXPECT_EQ(run_async(store().run_usage(run.run)).value().cost, Money{7});
  EXPECT_EQ(sql("SELECT id, status FROM model_calls ORDER BY id"),
            (TextRows{{"c1", "completed"}, {"c2", "interrupted"}}));
}

TEST_P(StoreForceEnd, SSE_1_TheWriterOfBeforeIsFenced) {
  auto const run = run_;
  ASSERT_TRUE(run_async(store().force_end(request_for(run.run))));

  EXPECT_EQ(refusal(run_async(store().append(append_request(run.run, run.epoch, batch(3, 3))))),
            Errc::fenced);
  EXPECT_EQ(refusal(run_async(store().end(end_request(run.run, run.epoch, batch(3, 3))))), Errc::fenced);
}

TEST_P(StoreForceEnd, RunThatHasChangedSinceItWasSeenIsLeftAlone) {
  auto const run = run_;
  auto const seen = request_for(run.run);
  (void)run_async(store().append(append_request(run.run, run.epoch, batch(3, 3)))).value();
  EXPECT_EQ(refusal(run_async(store().force_end(seen))), Errc::conflict);
  claim(run.run, kNow + 1);
  EXPECT_EQ(refusal(run_async(store().force_end(seen))), Errc::conflict);
  EXPECT_EQ(status(run.run), RunStatus::running);

  auto const epoch = row(run.run).epoch;
  end(run.run, epoch, batch(4, 4));
  EXPECT_EQ(refusal(run_async(store().force_end(request_for(run.run)))), Errc::conflict);
  EXPECT_EQ(refusal(run_async(store().log_end(RunKey{4711}))), Errc::not_found);
}

TEST_P(StoreForceEnd, RepeatAnswersTheSame) {
  auto const run = run_;
  auto const next = admit(admission("r2", OnBusy::enqueue));
  auto const request = request_for(run.run);
  ASSERT_TRUE(run_async(store().force_end(request)));
  auto const epoch = row(run.run).epoch;

  auto const again = run_async(store().force_end(request)).value();

  EXPECT_EQ(again.promoted, next.run);
  EXPECT_EQ(row(run.run).epoch, epoch);
}

TEST_P(StoreForceEnd, RUN_12_WriterThatVanishedCountsAndOneThatReleasedTheRunDoesNot) {
  auto const run = run_;
  EXPECT_EQ(crashes_at_claim(run.run), 1);

  auto epoch = row(run.run).epoch;
  (void)run_async(store().append(append_request(run.run, epoch, batch(3, 3)))).value();
  ASSERT_TRUE(run_async(store().release(run.run, epoch)));
  ASSERT_TRUE(run_async(store().release(run.run, epoch))) << "a repeat changes nothing";
  EXPECT_EQ(crashes_at_claim(run.run), 1);

  epoch = row(run.run).epoch;
  (void)run_async(store().append(append_request(run.run, epoch, batch(4, 4)))).value();
  EXPECT_EQ(crashes_at_claim(run.run), 2);
}

TEST_P(StoreForceEnd, RUN_12_ClaimUnderWhichNothingWasWrittenIsNoCrash) {
  auto const run = run_;
  EXPECT_EQ(crashes_at_claim(run.run), 1);
  EXPECT_EQ(crashes_at_claim(run.run), 1);
}

TEST_P(StoreForceEnd, RUN_12_CrashesAreCountedSinceTheLastCheckpoint) {
  auto const run = run_;
  EXPECT_EQ(crashes_at_claim(run.run), 1);
  auto append = append_request(run.run, row(run.run).epoch, batch(3, 3));
  append.checkpoints = {Checkpoint{1, "worker", "turn", "{}"}};
  (void)run_async(store().append(append)).value();

  EXPECT_EQ(crashes_at_claim(run.run), 1);
}

TEST_P(StoreForceEnd, OnlyTheWriterReleasesItsRun) {
  auto const run = run_;
  claim(run.run, kNow + 1);
  EXPECT_EQ(refusal(run_async(store().release(run.run, run.epoch))), Errc::fenced);
  auto const epoch = row(run.run).epoch;
  end(run.run, epoch, batch(3, 3));
  EXPECT_EQ(refusal(run_async(store().release(run.run, epoch))), Errc::fenced);
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreForceEnd, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
