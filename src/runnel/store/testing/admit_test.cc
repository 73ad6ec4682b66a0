#include "runnel/store/testing/store_contract.h"

namespace runnel::store {
namespace {

using Outcome = Admission::Outcome;

class StoreAdmit : public StoreContract {};

TEST_P(StoreAdmit, NewThreadIsMadeAndItsRunStartsAtOnce) {
  auto const admitted = admit(admission("r1"));

  EXPECT_EQ(admitted.outcome, Outcome::running);
  EXPECT_EQ(admitted.status, RunStatus::running);
  EXPECT_EQ(admitted.epoch, kNow);
  EXPECT_EQ(admitted.thread_id.text, "t1");
  auto const run = row(admitted.run);
  EXPECT_EQ(run.status, RunStatus::running);
  EXPECT_EQ(run.last_n, 2u);
  EXPECT_EQ(run.next_idx, 20);
  EXPECT_EQ(run.input, R"({"text":"hello"})");
  EXPECT_EQ(run.started_at, kNow);
  EXPECT_EQ(message_rows(), std::vector<std::string>{"user:1:3"});
  EXPECT_EQ(thread_column("status"), "running");
}

TEST_P(StoreAdmit, RUN_2_SameRunWithTheSameInputIsTheSameRun) {
  auto const first = admit(admission("r1"));

  auto const again = admit(admission("r1"));

  EXPECT_EQ(again.outcome, Outcome::existing);
  EXPECT_EQ(again.run, first.run);
  EXPECT_EQ(again.thread, first.thread);
  EXPECT_EQ(again.thread_id.text, "t1");
  EXPECT_EQ(again.epoch, first.epoch);
  EXPECT_EQ(again.status, RunStatus::running);
  EXPECT_EQ(message_rows().size(), 1u);
}

TEST_P(StoreAdmit, RUN_2_SameRunIsFoundAgainAfterItEnded) {
  auto const first = admit(admission("r1"));
  end(first.run, first.epoch, batch(3, 3));

  auto const again = admit(admission("r1"));

  EXPECT_EQ(again.outcome, Outcome::existing);
  EXPECT_EQ(again.status, RunStatus::completed);
}

TEST_P(StoreAdmit, RUN_2_SameRunWithAnotherInputIsAConflictAndChangesNothing) {
  admit(admission("r1"));
  auto other = admission("r1", "t2");
  other.input_hash = "another";

  EXPECT_EQ(admit(other).outcome, Outcome::id_conflict);
  EXPECT_TRUE(sql("SELECT id FROM agent_chat_sessions WHERE thread_ref = 't2'").empty());
}

TEST_P(StoreAdmit, RUN_1_IdsAreUniquePerOwnerOnly) {
  auto const anns = admit(admission("r1", "t1", "ann"));
  auto const bobs = admit(admission("r1", "t1", "bob"));

  EXPECT_EQ(bobs.outcome, Outcome::running);
  EXPECT_NE(bobs.run, anns.run);
  EXPECT_NE(bobs.thread, anns.thread);
}

TEST_P(StoreAdmit, RUN_3_BusyThreadRejectsAndWritesNothing) {
  auto const active = admit(admission("r1"));

  auto const refused = admit(admission("r2", OnBusy::reject));

  EXPECT_EQ(refused.outcome, Outcome::thread_busy);
  EXPECT_EQ(refused.run, active.run);
  EXPECT_EQ(sql("SELECT count(*) FROM runs").at(0).at(0), "1");
}

TEST_P(StoreAdmit, RUN_3_EnqueuedRunWaitsWithoutAMessage) {
  admit(admission("r1"));

  auto const queued = admit(admission("r2", OnBusy::enqueue));

  EXPECT_EQ(queued.outcome, Outcome::queued);
  EXPECT_EQ(queued.status, RunStatus::queued);
  EXPECT_FALSE(queued.cancel_first.has_value());
  EXPECT_EQ(status(queued.run), RunStatus::queued);
  EXPECT_EQ(message_rows().size(), 1u);
}

TEST_P(StoreAdmit, RUN_3_EnqueuedRunsAreNextInOrder) {
  auto const first = admit(admission("r1"));
  auto const second = admit(admission("r2", OnBusy::enqueue));
  auto const third = admit(admission("r3", OnBusy::enqueue));

  auto const after_first = end(first.run, first.epoch, batch(3, 3));
  auto const claimed = claim(second.run);
  auto const after_second = end(second.run, claimed.epoch, batch(3, 3));

  EXPECT_EQ(after_first.promoted, second.run);
  EXPECT_EQ(after_second.promoted, third.run);
  EXPECT_EQ(status(third.run), RunStatus::pending);
}

TEST_P(StoreAdmit, RUN_3_InterruptGoesToTheHeadAndAsksTheActiveRunToEnd) {
  auto const active = admit(admission("r1"));
  auto const waiting = admit(admission("r2", OnBusy::enqueue));

  auto const urgent = admit(admission("r3", OnBusy::interrupt));

  EXPECT_EQ(urgent.outcome, Outcome::queued);
  EXPECT_EQ(urgent.cancel_first, active.run);
  EXPECT_TRUE(row(active.run).cancel_requested);
  EXPECT_EQ(message_rows(), std::vector<std::string>{"user:1:3"});
  EXPECT_EQ(end(active.run, active.epoch, batch(3, 3), RunStatus::canceled).promoted, urgent.run);
  EXPECT_EQ(status(waiting.run), RunStatus::queued);
}

TEST_P(StoreAdmit, RUN_3_RollbackHidesTheActiveRunsRowsNowAndLater) {
  auto const active = admit(admission("r1"));
  (void)run_async(store().append(append_request(active.run, active.epoch, batch(3, 3), {answer("m1")})))
      .value();

  auto const urgent = admit(admission("r2", OnBusy::rollback));
  EXPECT_EQ(urgent.cancel_first, active.run);
  EXPECT_EQ(message_rows(), (std::vector<std::string>{"user:1:0", "assistant:2:0"}));

  auto last = end_request(active.run, active.epoch, batch(4, 4), RunStatus::canceled);
  last.append.messages = {answer("m2")};
  EXPECT_EQ(run_async(store().end(last)).value().promoted, urgent.run);
  claim(urgent.run);
  EXPECT_EQ(message_rows(),
            (std::vector<std::string>{"user:1:0", "assistant:2:0", "assistant:3:0", "user:4:3"}));
}

TEST_P(StoreAdmit, RUN_3_AnEndedThreadIsFreeAgain) {
  auto const first = admit(admission("r1"));
  end(first.run, first.epoch, batch(3, 3));

  EXPECT_EQ(admit(admission("r2")).outcome, Outcome::running);
  EXPECT_EQ(message_rows(), (std::vector<std::string>{"user:1:3", "user:2:3"}));
}

TEST_P(StoreAdmit, RUN_7_TitleIsSetOnlyWhereThereIsNone) {
  auto first = admission("r1");
  first.begin.title = "the first";
  auto const admitted = admit(first);
  end(admitted.run, admitted.epoch, batch(3, 3));
  auto second = admission("r2");
  second.begin.title = "the second";

  admit(second);

  EXPECT_EQ(thread_column("title"), "the first");
}

TEST_P(StoreAdmit, AResentMessageIdGetsOneOfTheRunsOwn) {
  auto request = admission("r1");
  request.begin.user_message.id = MessageId{"m1"};
  auto const first = admit(request);
  end(first.run, first.epoch, batch(3, 3));
  auto again = admission("r2");
  again.begin.user_message.id = MessageId{"m1"};

  admit(again);

  EXPECT_EQ(sql("SELECT message_id FROM agent_chat_messages ORDER BY seq"), (TextRows{{"m1"}, {"r2-input"}}));
}

TEST_P(StoreAdmit, SSE_1_EpochsIncreaseWithinAThreadThoughTheClockGoesBack) {
  auto const first = admit(admission("r1"));
  auto behind = admission("r2", OnBusy::enqueue);
  behind.now = kNow - 5'000;
  auto const queued = admit(behind);
  end(first.run, first.epoch, batch(3, 3));
  auto const second = claim(queued.run, kNow - 4'000);
  end(queued.run, second.epoch, batch(3, 3));
  auto late = admission("r3");
  late.now = kNow - 3'000;
  auto const third = admit(late);
  auto const elsewhere = admit(admission("r4", "t2"));

  EXPECT_EQ(first.epoch, kNow);
  EXPECT_EQ(second.epoch, kNow + 1);
  EXPECT_EQ(third.epoch, kNow + 2);
  EXPECT_EQ(elsewhere.epoch, kNow);
}

TEST_P(StoreAdmit, FLOW_6_RunKeepsTheProfileOfItsAdmission) {
  auto wanted = admission("r1");
  wanted.profile_query = "SELECT '{\"username\":\"茶 of ' || $1 || '\"}', 'DE'";
  auto later = admission("r2", OnBusy::enqueue);
  later.profile_query = "SELECT '{\"username\":\"Anna\"}', 'DE' WHERE $1 = 'ann'";

  auto const first = admit(wanted);
  auto const queued = admit(later);
  end(first.run, first.epoch, batch(3, 3));
  claim(queued.run);

  EXPECT_EQ(first.profile, R"({"username":"茶 of ann"})");
  EXPECT_EQ(queued.profile, "");
  EXPECT_EQ(admit(wanted).profile, "");
  EXPECT_EQ(row(first.run).profile, first.profile);
  EXPECT_EQ(row(queued.run).profile, R"({"username":"Anna"})");
  EXPECT_EQ(run_async(store().find_run(kAnn, kThread, RunId{"r1"})).value().value().profile, first.profile);
}

TEST_P(StoreAdmit, FLOW_6_RunOfAnOwnerWithoutAProfileHasNone) {
  auto stranger = admission("r2", "t2");
  stranger.profile_query = "SELECT 'unseen', 'DE' WHERE $1 = 'bob'";

  auto const admitted = admit(admission("r1"));
  auto const second = admit(stranger);

  EXPECT_EQ(admitted.profile, "");
  EXPECT_EQ(second.profile, "");
  EXPECT_EQ(row(second.run).profile, "");
  EXPECT_EQ(sql("SELECT profile FROM runs"), (TextRows{{"null"}, {"null"}}));
}

TEST_P(StoreAdmit, USE_7_ThreadWithoutACountryHasNone) {
  auto nowhere = admission("r1");
  nowhere.country = "";

  admit(nowhere);

  EXPECT_EQ(thread_column("billing_country_snapshot"), "null");
}

TEST_P(StoreAdmit, USE_7_ThreadOfAnOwnerWhoseProfileNamesNoCountryHasTheDefault) {
  auto silent = admission("r1");
  silent.profile_query = "SELECT '{}', '' WHERE $1 <> ''";

  admit(silent);

  EXPECT_EQ(thread_column("billing_country_snapshot"), "CN");
}

TEST_P(StoreAdmit, USE_7_CountryIsFrozenWithTheThread) {
  auto at_home = admission("r1");
  at_home.profile_query = "SELECT '{}', 'DE' WHERE $1 <> ''";
  auto const first = admit(at_home);
  end(first.run, first.epoch, batch(3, 3));
  auto moved = admission("r2");
  moved.profile_query = "SELECT '{}', 'US' WHERE $1 <> ''";

  admit(moved);

  EXPECT_EQ(thread_column("billing_country_snapshot"), "DE");
  EXPECT_EQ(thread_column("billing_currency"), "CNY");
}

TEST_P(StoreAdmit, WhatNoEngineCanHoldIsRefused) {
  auto request = admission("r1");
  request.begin.user_message.content = std::string{"a\0b", 3};

  EXPECT_EQ(refusal(run_async(store().admit(request))), Errc::invalid);
  EXPECT_EQ(sql("SELECT count(*) FROM agent_chat_sessions").at(0).at(0), "0");
}

TEST_P(StoreAdmit, RUN_2_AHundredParallelAdmitsOfOneRunGiveOneRun) {
  std::vector<Async<Admission>> work;
  for (int i = 0; i < 100; ++i) {
    work.push_back(store().admit(admission("r1")));
  }

  int fresh = 0;
  for (auto const& outcome : run_all_async(std::move(work))) {
    if (outcome.value().outcome == Outcome::running) ++fresh;
  }

  EXPECT_EQ(fresh, 1);
  EXPECT_EQ(sql("SELECT count(*) FROM runs").at(0).at(0), "1");
  EXPECT_EQ(message_rows().size(), 1u);
}

TEST_P(StoreAdmit, RUN_3_FiftyParallelEnqueuedRunsRunInTheOrderTheyWereAdmitted) {
  auto current = admit(admission("r0"));
  std::vector<Async<Admission>> work;
  for (int i = 1; i <= 50; ++i) {
    work.push_back(store().admit(admission("r" + std::to_string(i), OnBusy::enqueue)));
  }
  auto const queued = run_all_async(std::move(work));

  for (auto const& next : queued) {
    ASSERT_EQ(end(current.run, current.epoch, batch(3, 3)).promoted, next.value().run);
    current.run = next.value().run;
    current.epoch = claim(current.run).epoch;
  }

  auto const seqs = sql("SELECT seq FROM agent_chat_messages ORDER BY id");
  ASSERT_EQ(seqs.size(), 51u);
  EXPECT_EQ(seqs.back().at(0), "51");
}

AdmitRequest limited(std::string const& run, std::string thread, std::int64_t max) {
  auto request = admission(run, std::move(thread));
  request.max_active_runs = max;
  return request;
}

TEST_P(StoreAdmit, HTTP_6_RunBeyondTheLimitIsRefusedAndLeavesNothing) {
  admit(limited("r1", "t1", 2));
  auto waiting = limited("r2", "t1", 2);
  waiting.on_busy = OnBusy::enqueue;
  ASSERT_EQ(admit(waiting).outcome, Outcome::queued);

  EXPECT_EQ(admit(limited("r3", "t3", 2)).outcome, Outcome::too_many_runs);

  EXPECT_EQ(sql("SELECT count(*) FROM runs").at(0).at(0), "2");
  EXPECT_EQ(sql("SELECT count(*) FROM agent_chat_sessions").at(0).at(0), "1");
}

TEST_P(StoreAdmit, HTTP_6_EndedRunMakesRoom) {
  auto const first = admit(limited("r1", "t1", 1));
  ASSERT_EQ(admit(limited("r2", "t2", 1)).outcome, Outcome::too_many_runs);

  end(first.run, first.epoch, batch(3, 3));

  EXPECT_EQ(admit(limited("r2", "t2", 1)).outcome, Outcome::running);
}

TEST_P(StoreAdmit, HTTP_6_LimitIsEachUsersOwn) {
  admit(limited("r1", "t1", 1));
  auto bobs = limited("r1", "t1", 1);
  bobs.owner = UserId{"bob"};

  EXPECT_EQ(admit(bobs).outcome, Outcome::running);
  EXPECT_EQ(admit(admission("r2", "t2")).outcome, Outcome::running) << "no limit";
}

TEST_P(StoreAdmit, HTTP_6_RepeatOfARunIsNeverTooMany) {
  auto const first = admit(limited("r1", "t1", 1));
  auto other = limited("r1", "t1", 1);
  other.input_hash = "another";

  auto const again = admit(limited("r1", "t1", 1));

  EXPECT_EQ(again.outcome, Outcome::existing);
  EXPECT_EQ(again.run, first.run);
  EXPECT_EQ(admit(other).outcome, Outcome::id_conflict);
}

TEST_P(StoreAdmit, HTTP_6_RunThatIsToBeReplacedCountsUntilItHasEnded) {
  auto const first = admit(limited("r1", "t1", 1));

  for (auto const policy : {OnBusy::interrupt, OnBusy::rollback}) {
    auto replacing = limited("r2", "t1", 1);
    replacing.on_busy = policy;
    EXPECT_EQ(admit(replacing).outcome, Outcome::too_many_runs);
  }

  EXPECT_FALSE(row(first.run).cancel_requested);
  EXPECT_EQ(message_rows(), std::vector<std::string>{"user:1:3"});
}

TEST_P(StoreAdmit, HTTP_6_AHundredParallelAdmitsDoNotOvershoot) {
  std::vector<Async<Admission>> work;
  for (int i = 0; i < 100; ++i) {
    auto const number = std::to_string(i);
    work.push_back(store().admit(limited("r" + number, "t" + number, 7)));
  }

  int started = 0;
  int refused = 0;
  for (auto const& outcome : run_all_async(std::move(work))) {
    if (outcome.value().outcome == Outcome::running) ++started;
    if (outcome.value().outcome == Outcome::too_many_runs) ++refused;
  }

  EXPECT_EQ(started, 7);
  EXPECT_EQ(refused, 93);
  EXPECT_EQ(sql("SELECT count(*) FROM agent_chat_sessions").at(0).at(0), "7");
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreAdmit, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
