#include "runnel/store/store_contract.h"

namespace runnel::store {
namespace {

class StoreEnd : public StoreContract {
 protected:
  Admission run_;

  void SetUp() override {
    StoreContract::SetUp();
    if (!IsSkipped()) run_ = admit(admission("r1"));
  }
};

TEST_P(StoreEnd, RUN_6_CompletedRunCompletesItsThread) {
  auto request = end_request(run_.run, run_.epoch, batch(3, 4));
  request.append.messages = {answer("m1")};

  auto const ended = run_async(store().end(request)).value();

  EXPECT_FALSE(ended.promoted.has_value());
  auto const run = row(run_.run);
  EXPECT_EQ(run.status, RunStatus::completed);
  EXPECT_EQ(run.ended_at, kNow + 20);
  EXPECT_EQ(run.last_n, 4u);
  EXPECT_EQ(message_rows().back(), "assistant:2:3");
  EXPECT_EQ(thread_column("status"), "completed");
  EXPECT_EQ(thread_column("updated_at"), std::to_string(kNow + 20));
}

TEST_P(StoreEnd, RUN_6_FailedRunKeepsItsErrorAndFailsItsThread) {
  auto request = end_request(run_.run, run_.epoch, batch(3, 3), RunStatus::failed);
  request.error_code = "BUDGET_EXCEEDED";
  request.error_id = "e-1";

  ASSERT_TRUE(run_async(store().end(request)));

  EXPECT_EQ(row(run_.run).error_code, "BUDGET_EXCEEDED");
  EXPECT_EQ(row(run_.run).error_id, "e-1");
  EXPECT_EQ(thread_column("status"), "failed");
}

TEST_P(StoreEnd, RUN_6_CanceledRunLeavesItsThreadFailed) {
  end(run_.run, run_.epoch, batch(3, 3), RunStatus::canceled);

  EXPECT_EQ(status(run_.run), RunStatus::canceled);
  EXPECT_EQ(thread_column("status"), "failed");
}

TEST_P(StoreEnd, RUN_6_ThreadRunsAgainWithItsNextRun) {
  auto const next = admit(admission("r2", OnBusy::enqueue));

  end(run_.run, run_.epoch, batch(3, 3));
  EXPECT_EQ(thread_column("status"), "completed");
  claim(next.run);

  EXPECT_EQ(thread_column("status"), "running");
}

TEST_P(StoreEnd, EndedRunTakesNothingMore) {
  end(run_.run, run_.epoch, batch(3, 3));

  EXPECT_EQ(refusal(run_async(store().append(append_request(run_.run, run_.epoch, batch(4, 4))))),
            Errc::fenced);
  EXPECT_EQ(refusal(run_async(store().end(end_request(run_.run, run_.epoch, batch(4, 4))))), Errc::fenced);
  EXPECT_TRUE(sql_refused("INSERT INTO log(run_id, first_n, last_n, epoch, body) VALUES (" +
                          std::to_string(run_.run.value) + ", 4, 4, " + std::to_string(run_.epoch) +
                          ", '[]')"));
}

TEST_P(StoreEnd, RepeatOfACommittedEndAnswersTheSame) {
  auto const next = admit(admission("r2", OnBusy::enqueue));
  auto const request = end_request(run_.run, run_.epoch, batch(3, 3));
  ASSERT_EQ(run_async(store().end(request)).value().promoted, next.run);

  auto const again = run_async(store().end(request)).value();

  EXPECT_EQ(again.promoted, next.run);
  EXPECT_EQ(row(run_.run).last_n, 3u);
}

TEST_P(StoreEnd, RepeatOfACommittedEndPromotesNobodyTwice) {
  auto const next = admit(admission("r2", OnBusy::enqueue));
  auto const third = admit(admission("r3", OnBusy::enqueue));
  auto const request = end_request(run_.run, run_.epoch, batch(3, 3));
  ASSERT_TRUE(run_async(store().end(request)));
  claim(next.run);

  auto const again = run_async(store().end(request)).value();

  EXPECT_FALSE(again.promoted.has_value());
  EXPECT_EQ(status(third.run), RunStatus::queued);
}

TEST_P(StoreEnd, AnotherEndOfAnEndedRunIsFenced) {
  end(run_.run, run_.epoch, batch(3, 3));

  auto const other = end_request(run_.run, run_.epoch, batch(3, 3), RunStatus::failed);
  EXPECT_EQ(refusal(run_async(store().end(other))), Errc::fenced);
  EXPECT_EQ(status(run_.run), RunStatus::completed);
}

TEST_P(StoreEnd, RunDoesNotEndInAStatusThatIsNone) {
  auto const request = end_request(run_.run, run_.epoch, batch(3, 3), RunStatus::running);

  EXPECT_EQ(refusal(run_async(store().end(request))), Errc::invalid);
}

TEST_P(StoreEnd, RacingEndsHaveOneWinner) {
  std::vector<Async<Ended>> work;
  for (int i = 0; i < 20; ++i) {
    auto request = end_request(run_.run, run_.epoch, batch(3, 3, "[" + std::to_string(i) + "]"));
    work.push_back(store().end(std::move(request)));
  }

  int won = 0;
  for (auto const& outcome : run_all_async(std::move(work))) {
    if (outcome) ++won;
  }

  EXPECT_EQ(won, 1);
  EXPECT_EQ(run_async(store().read_log(run_.run, 2, 1000)).value().size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreEnd, testing::Values(sqlite_engine(), postgres_engine()), engine_name);

}  // namespace
}  // namespace runnel::store
