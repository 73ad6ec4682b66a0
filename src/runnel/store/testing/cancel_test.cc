#include "runnel/store/testing/store_contract.h"

namespace runnel::store {
namespace {

class StoreCancel : public StoreContract {
 protected:
  static DiscardRequest discard_request(RunKey run) {
    DiscardRequest request;
    request.run = run;
    request.now = kNow + 30;
    request.facts = batch(1, 2, "[\"started\",\"canceled\"]");
    return request;
  }
};

TEST_P(StoreCancel, RUN_4_ActiveRunIsMarkedAndItsStatusTold) {
  auto const run = admit(admission("r1"));

  auto const outcome = run_async(store().request_cancel(run.run, kNow)).value();

  EXPECT_EQ(outcome.run, run.run);
  EXPECT_EQ(outcome.status, RunStatus::running);
  EXPECT_TRUE(row(run.run).cancel_requested);
}

TEST_P(StoreCancel, RUN_4_EndedRunIsLeftAsItIs) {
  auto const run = admit(admission("r1"));
  end(run.run, run.epoch, batch(3, 3));

  EXPECT_EQ(run_async(store().request_cancel(run.run, kNow)).value().status, RunStatus::completed);
  EXPECT_FALSE(row(run.run).cancel_requested);
}

TEST_P(StoreCancel, RUN_4_QueuedRunIsNotMarkedButToldToBeDiscarded) {
  admit(admission("r1"));
  auto const queued = admit(admission("r2", OnBusy::enqueue));

  EXPECT_EQ(run_async(store().request_cancel(queued.run, kNow)).value().status, RunStatus::queued);
  EXPECT_FALSE(row(queued.run).cancel_requested);
}

TEST_P(StoreCancel, RunThatDoesNotExistIsNotFound) {
  EXPECT_EQ(refusal(run_async(store().request_cancel(RunKey{4711}, kNow))), Errc::not_found);
  EXPECT_EQ(refusal(run_async(store().discard(discard_request(RunKey{4711})))), Errc::not_found);
}

TEST_P(StoreCancel, DiscardedRunEndsCanceledWithALogOfItsOwn) {
  auto const active = admit(admission("r1"));
  auto const queued = admit(admission("r2", OnBusy::enqueue));

  ASSERT_TRUE(run_async(store().discard(discard_request(queued.run))));

  auto const run = row(queued.run);
  EXPECT_EQ(run.status, RunStatus::canceled);
  EXPECT_EQ(run.epoch, kNow + 30);
  EXPECT_EQ(run.last_n, 2u);
  EXPECT_EQ(run.ended_at, kNow + 30);
  ASSERT_EQ(run.epochs.size(), 1u);
  EXPECT_EQ(run.epochs[0].first_n, 1u);
  EXPECT_EQ(run_async(store().read_log(queued.run, 0, 1000)).value().at(0).epoch, kNow + 30);
  EXPECT_EQ(thread_column("status"), "running");
  EXPECT_FALSE(end(active.run, active.epoch, batch(3, 3)).promoted.has_value());
}

TEST_P(StoreCancel, OnlyAQueuedRunCanBeDiscarded) {
  auto const active = admit(admission("r1"));

  EXPECT_EQ(refusal(run_async(store().discard(discard_request(active.run)))), Errc::conflict);
  EXPECT_EQ(status(active.run), RunStatus::running);
}

TEST_P(StoreCancel, RepeatOfACommittedDiscardSucceeds) {
  admit(admission("r1"));
  auto const queued = admit(admission("r2", OnBusy::enqueue));
  ASSERT_TRUE(run_async(store().discard(discard_request(queued.run))));

  EXPECT_TRUE(run_async(store().discard(discard_request(queued.run))));
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreCancel, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
