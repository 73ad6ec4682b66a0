#include "runnel/store/testing/store_contract.h"

namespace runnel::store {
namespace {

class StoreClaim : public StoreContract {
 protected:
  // A run that was queued and then promoted.
  RunKey pending_run() {
    auto const first = admit(admission("r1"));
    auto const second = admit(admission("r2", OnBusy::enqueue));
    end(first.run, first.epoch, batch(3, 3));
    return second.run;
  }

  static ClaimRequest claim_request(RunKey run, std::int64_t now = kNow) {
    ClaimRequest request;
    request.run = run;
    request.node = NodeId{"node-2"};
    request.now = now;
    return request;
  }
};

TEST_P(StoreClaim, FirstClaimOfAQueuedRunWritesItsBeginning) {
  auto const run = pending_run();
  auto request = claim_request(run, kNow + 50);
  request.begin = begin("u2");

  auto const claimed = run_async(store().claim(request)).value();

  EXPECT_EQ(claimed.epoch, kNow + 50);
  EXPECT_EQ(claimed.previous_epoch, 0);
  EXPECT_EQ(claimed.last_n, 2u);
  EXPECT_EQ(claimed.next_idx, 20);
  EXPECT_FALSE(claimed.cancel_requested);
  EXPECT_EQ(status(run), RunStatus::running);
  EXPECT_EQ(message_rows(), (std::vector<std::string>{"user:1:3", "user:2:3"}));
  EXPECT_EQ(thread_column("status"), "running");
  EXPECT_EQ(run_async(store().read_log(run, 0, 1000)).value().size(), 1u);
}

TEST_P(StoreClaim, SSE_1_TakeoverGoesOnAfterTheDurableEndUnderALargerEpoch) {
  auto const first = admit(admission("r1"));

  auto const later = run_async(store().claim(claim_request(first.run, kNow + 7))).value();

  EXPECT_EQ(later.epoch, kNow + 7);
  EXPECT_EQ(later.previous_epoch, kNow);
  EXPECT_EQ(later.last_n, 2u);
  EXPECT_EQ(message_rows().size(), 1u);
}

TEST_P(StoreClaim, SSE_1_EpochGrowsEvenIfTheClockWentBack) {
  auto const first = admit(admission("r1"));

  auto const later = run_async(store().claim(claim_request(first.run, kNow - 3'600'000))).value();

  EXPECT_EQ(later.epoch, first.epoch + 1);
}

TEST_P(StoreClaim, SSE_4_EveryEpochAndWhereItBeginsIsKept) {
  auto const first = admit(admission("r1"));
  (void)run_async(store().append(append_request(first.run, first.epoch, batch(3, 6)))).value();
  run_async(store().claim(claim_request(first.run, kNow + 5))).value();

  auto const epochs = row(first.run).epochs;

  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[0].epoch, kNow);
  EXPECT_EQ(epochs[0].first_n, 1u);
  EXPECT_EQ(epochs[1].epoch, kNow + 5);
  EXPECT_EQ(epochs[1].first_n, 7u);
}

TEST_P(StoreClaim, ClaimOfARunThatHasNotBegunNeedsItsBeginning) {
  auto const run = pending_run();

  EXPECT_EQ(refusal(run_async(store().claim(claim_request(run)))), Errc::invalid);
  EXPECT_EQ(status(run), RunStatus::pending);
}

TEST_P(StoreClaim, QueuedAndEndedRunsCannotBeClaimed) {
  auto const active = admit(admission("r1"));
  auto const queued = admit(admission("r2", OnBusy::enqueue));
  auto request = claim_request(queued.run);
  request.begin = begin("u2");

  EXPECT_EQ(refusal(run_async(store().claim(request))), Errc::conflict);
  end(active.run, active.epoch, batch(3, 3));
  EXPECT_EQ(refusal(run_async(store().claim(claim_request(active.run)))), Errc::conflict);
}

TEST_P(StoreClaim, RunThatDoesNotExistCannotBeClaimed) {
  EXPECT_EQ(refusal(run_async(store().claim(claim_request(RunKey{4711})))), Errc::not_found);
}

TEST_P(StoreClaim, ClaimTellsThatACancelWasAskedFor) {
  auto const active = admit(admission("r1"));
  admit(admission("r2", OnBusy::interrupt));

  EXPECT_TRUE(run_async(store().claim(claim_request(active.run, kNow + 1))).value().cancel_requested);
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreClaim, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
