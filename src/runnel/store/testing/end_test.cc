#include "runnel/store/testing/store_contract.h"

namespace runnel::store {
namespace {

class StoreEnd : public StoreContract {
 protected:
  Admission run_;

  void SetUp() override {
    StoreContract::SetUp();
    if (!IsSkipped()) run_ = admit(admission("r1"));
  }

  Async<bool> ended_as_canceled(EndRequest request) {
    auto const ended = co_await store().end(std::move(request));
    co_return ended.value().canceled;
  }
  Async<bool> cancel_accepted(RunKey run) {
    auto const outcome = co_await store().request_cancel(run, kNow + 15);
    co_return !is_ended(outcome.value().status);
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

// An end of r1 as completed, with three facts, and the one for an accepted cancel, with two facts.
EndRequest either_end(Admission const& run) {
  auto request = end_request(run.run, run.epoch, batch(3, 5, "[\"answer\"]"));
  request.append.messages = {answer("m1")};
  request.if_canceled.emplace();
  request.if_canceled->append =
      append_request(run.run, run.epoch, batch(3, 4, "[\"canceled\"]"), {audit("a1")});
  request.if_canceled->append.now = kNow + 20;
  request.if_canceled->error_code = "RUN_CANCELED";
  return request;
}

TEST_P(StoreEnd, RUN_4_EndOfARunThatNobodyCanceledIsItsOwn) {
  auto const ended = run_async(store().end(either_end(run_))).value();

  EXPECT_FALSE(ended.canceled);
  EXPECT_EQ(status(run_.run), RunStatus::completed);
  EXPECT_EQ(row(run_.run).last_n, 5u);
  EXPECT_EQ(message_rows().back(), "assistant:2:3");
}

TEST_P(StoreEnd, RUN_4_RunWhoseCancelWasAcceptedNeverCompletes) {
  ASSERT_TRUE(run_async(store().request_cancel(run_.run, kNow + 15)));

  auto const ended = run_async(store().end(either_end(run_))).value();

  EXPECT_TRUE(ended.canceled);
  auto const run = row(run_.run);
  EXPECT_EQ(run.status, RunStatus::canceled);
  EXPECT_EQ(run.error_code, "RUN_CANCELED");
  EXPECT_EQ(run.last_n, 4u);
  EXPECT_EQ(run_async(store().read_log(run_.run, 2, 1000)).value().at(0).body, "[\"canceled\"]");
  EXPECT_EQ(message_rows().back(), "system:-1:0");
  EXPECT_EQ(thread_column("status"), "failed");
}

TEST_P(StoreEnd, RUN_4_InterruptedRunNeverCompletesAndItsSuccessorIsPromoted) {
  auto const next = admit(admission("r2", OnBusy::interrupt));

  auto const ended = run_async(store().end(either_end(run_))).value();

  EXPECT_TRUE(ended.canceled);
  EXPECT_EQ(ended.promoted, next.run);
}

TEST_P(StoreEnd, RUN_4_RepeatOfAnEndGoesTheWayOfTheFirst) {
  ASSERT_TRUE(run_async(store().request_cancel(run_.run, kNow + 15)));
  ASSERT_TRUE(run_async(store().end(either_end(run_))));
  EXPECT_TRUE(run_async(store().end(either_end(run_))).value().canceled);
  EXPECT_EQ(row(run_.run).last_n, 4u);

  auto const second = admit(admission("r2"));
  auto request = either_end(second);
  request.append.messages = {answer("m2")};
  request.if_canceled->append.messages = {audit("a2")};
  ASSERT_FALSE(run_async(store().end(request)).value().canceled);
  EXPECT_FALSE(run_async(store().end(request)).value().canceled);
  EXPECT_EQ(run_async(store().request_cancel(second.run, kNow + 30)).value().status, RunStatus::completed);
  EXPECT_FALSE(run_async(store().end(request)).value().canceled);
}

TEST_P(StoreEnd, RUN_4_RacingCancelsAreKeptIfTheyWereAccepted) {
  for (int i = 0; i < 20; ++i) {
    auto const run = admit(admission("race" + std::to_string(i), "t" + std::to_string(100 + i)));
    auto request = either_end(run);
    request.append.messages.clear();
    request.if_canceled->append.messages.clear();
    std::vector<Async<bool>> work;
    work.push_back(ended_as_canceled(request));
    work.push_back(cancel_accepted(run.run));

    auto const outcomes = run_all_async(std::move(work));

    EXPECT_EQ(outcomes[0].value(), outcomes[1].value()) << "run " << i;
  }
}

TEST_P(StoreEnd, TwoEndingsBeginAtTheSamePlace) {
  auto request = either_end(run_);
  request.if_canceled->append.facts.first_n = 4;

  EXPECT_EQ(refusal(run_async(store().end(request))), Errc::invalid);
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
