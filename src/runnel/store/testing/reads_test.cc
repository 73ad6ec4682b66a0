#include <tuple>

#include "runnel/store/testing/ledger_contract.h"

namespace runnel::store {
namespace {

template <class Rows>
std::vector<std::string> ids(Rows const& rows) {
  std::vector<std::string> out;
  for (auto const& row : rows) {
    out.push_back(row.id.text);
  }
  return out;
}

using Texts = std::vector<std::string>;

PageSize page(std::size_t rows, std::size_t bytes = 1'000'000) {
  return {rows, bytes};
}

class StoreReads : public StoreContract {
 protected:
  // A thread with these rows: 1 is the user's, 2 to 5 are the answers m2 to m5, and there is one audit row.
  Admission talk() {
    auto const run = admit(admission("r1"));
    auto const facts = batch(3, 3);
    (void)run_async(
        store().append(append_request(run.run, run.epoch, facts,
                                      {answer("m2"), answer("m3"), audit("a1"), answer("m4"), answer("m5")})))
        .value();
    return run;
  }
};

TEST_P(StoreReads, RunIsFoundWithAllThatIsKnownOfIt) {
  auto request = admission("r1");
  request.mode = RuntimeMode::automation;
  request.agui_version = "0.0";
  auto const admitted = admit(request);

  auto const run = run_async(store().find_run(kAnn, kThread, RunId{"r1"})).value().value();

  EXPECT_EQ(run.key, admitted.run);
  EXPECT_EQ(run.thread, admitted.thread);
  EXPECT_EQ(run.owner, kAnn);
  EXPECT_EQ(run.thread_id, kThread);
  EXPECT_EQ(run.id.text, "r1");
  EXPECT_EQ(run.mode, RuntimeMode::automation);
  EXPECT_EQ(run.agui_version, "0.0");
  EXPECT_EQ(run.created_at, kNow);
  EXPECT_EQ(run.ended_at, 0);
  EXPECT_EQ(run.epochs.size(), 1u);
}

TEST_P(StoreReads, HTTP_3_AnothersRowsDoNotExist) {
  talk();

  EXPECT_FALSE(run_async(store().find_run(kBob, kThread, RunId{"r1"})).value().has_value());
  EXPECT_FALSE(run_async(store().thread(kBob, kThread)).value().has_value());
  EXPECT_EQ(refusal(run_async(store().history(kBob, kThread, std::nullopt, page(10)))), Errc::not_found);
  EXPECT_TRUE(run_async(store().threads(kBob, "", 10)).value().threads.empty());
}

TEST_P(StoreReads, RunIsNotFoundUnderAnotherThread) {
  talk();
  admit(admission("r2", "t2"));

  EXPECT_FALSE(run_async(store().find_run(kAnn, ThreadId{"t2"}, RunId{"r1"})).value().has_value());
  EXPECT_FALSE(run_async(store().run_by_key(RunKey{4711})).value().has_value());
}

TEST_P(StoreReads, TASK_1_RunIsFoundByItsOwnIdWhateverItsThread) {
  auto const run = talk();

  auto const found = run_async(store().find_owned_run(kAnn, RunId{"r1"})).value();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->key, run.run);
  EXPECT_EQ(found->thread_id, kThread);
  EXPECT_EQ(found->epochs.size(), 1u);
  EXPECT_FALSE(run_async(store().find_owned_run(kBob, RunId{"r1"})).value().has_value());
  EXPECT_FALSE(run_async(store().find_owned_run(kAnn, RunId{"r2"})).value().has_value());
}

TEST_P(StoreReads, TASK_1_RunOfADeletedThreadIsNotFound) {
  auto const run = talk();
  end(run.run, run.epoch, batch(4, 4));
  ASSERT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::deleted);

  EXPECT_FALSE(run_async(store().find_owned_run(kAnn, RunId{"r1"})).value().has_value());
}

// The helper `batch` says that ten polled events came before each fact behind it.
TEST_P(StoreReads, TASK_3_PlaceOfAPolledEventIsAtTheRowThatHasIt) {
  auto const run = admit(admission("r1"));
  (void)run_async(store().append(append_request(run.run, run.epoch, batch(3, 6)))).value();
  (void)run_async(store().append(append_request(run.run, run.epoch, batch(7, 7)))).value();
  auto const place = [&](std::int64_t idx) {
    auto const found = run_async(store().place_of_idx(run.run, idx)).value();
    return std::tuple{found.after.n, found.after.epoch, found.next_idx};
  };

  auto const begun = place(59);
  EXPECT_EQ(std::get<0>(begun), 2u);
  EXPECT_EQ(place(60), (std::tuple{6u, run.epoch, 60})) << "the row behind it begins with it";
  EXPECT_EQ(place(69), place(60));
  EXPECT_EQ(place(70), (std::tuple{7u, run.epoch, 70}));
  EXPECT_EQ(place(1'000'000), place(70)) << "the end of the log";
  EXPECT_EQ(place(0), (std::tuple{0u, 0, 0})) << "the start";
}

TEST_P(StoreReads, TASK_3_PlaceIsTheStartInALogThatIsOlderThanItsNumbers) {
  auto const run = admit(admission("r1"));
  sql("UPDATE log SET next_idx = NULL");

  auto const place = run_async(store().place_of_idx(run.run, 1000)).value();

  EXPECT_EQ(place.after, Position{});
  EXPECT_EQ(place.next_idx, 0);
}

TEST_P(StoreReads, RUN_5_ThreadNamesItsActiveRunAndThoseThatWait) {
  auto const first = admit(admission("r1"));
  admit(admission("r3", OnBusy::enqueue));
  admit(admission("r2", OnBusy::enqueue));
  admit(admission("other", "t2"));
  auto const thread = [this] { return run_async(store().thread(kAnn, kThread)).value().value(); };
  auto const waiting = [](ThreadRow const& row) {
    Texts out;
    for (auto const& run : row.queued_runs)
      out.push_back(run.text);
    return out;
  };

  EXPECT_EQ(thread().active_run.text, "r1");
  EXPECT_EQ(waiting(thread()), (Texts{"r3", "r2"}));
  auto const listed = run_async(store().threads(kAnn, "", 10)).value().threads;
  ASSERT_EQ(ids(listed), (Texts{"t2", "t1"}));
  EXPECT_EQ(listed[0].active_run.text, "other");
  EXPECT_EQ(waiting(listed[0]), Texts{});
  EXPECT_EQ(listed[1].active_run.text, "r1");
  EXPECT_EQ(waiting(listed[1]), (Texts{"r3", "r2"}));

  admit(admission("r4", OnBusy::interrupt));
  EXPECT_EQ(waiting(thread()), (Texts{"r4", "r3", "r2"})) << "an interrupt comes first";
  end(first.run, first.epoch, batch(3, 3));

  EXPECT_EQ(thread().active_run.text, "r4");
  EXPECT_EQ(waiting(thread()), (Texts{"r3", "r2"}));
}

TEST_P(StoreReads, RUN_5_ThreadWhoseRunsHaveEndedNamesNone) {
  auto const run = admit(admission("r1"));
  end(run.run, run.epoch, batch(3, 3));

  auto const thread = run_async(store().thread(kAnn, kThread)).value().value();

  EXPECT_TRUE(thread.active_run.empty());
  EXPECT_TRUE(thread.queued_runs.empty());
}

TEST_P(StoreReads, SSE_3_LogIsReadFromTheRowThatHoldsTheNextFact) {
  auto const run = admit(admission("r1"));
  (void)run_async(store().append(append_request(run.run, run.epoch, batch(3, 6)))).value();
  (void)run_async(store().append(append_request(run.run, run.epoch, batch(7, 7)))).value();

  auto const first_n = [this, &run](std::uint64_t after) {
    auto const rows = run_async(store().read_log(run.run, after, 1'000'000)).value();
    return rows.empty() ? 0 : rows.front().first_n;
  };

  EXPECT_EQ(first_n(0), 1u);
  EXPECT_EQ(first_n(1), 1u);
  EXPECT_EQ(first_n(2), 3u);
  EXPECT_EQ(first_n(5), 3u);
  EXPECT_EQ(first_n(6), 7u);
  EXPECT_EQ(first_n(7), 0u);
  EXPECT_EQ(run_async(store().read_log(run.run, 0, 1'000'000)).value().size(), 3u);
}

TEST_P(StoreReads, LogIsReadInPiecesOfAboutTheBytesAskedForButAtLeastOneRow) {
  auto const run = admit(admission("r1"));
  for (std::uint64_t n = 3; n <= 6; ++n) {
    (void)run_async(store().append(append_request(run.run, run.epoch, batch(n, n, std::string(100, 'x')))))
        .value();
  }

  EXPECT_EQ(run_async(store().read_log(run.run, 2, 1)).value().size(), 1u);
  EXPECT_EQ(run_async(store().read_log(run.run, 2, 150)).value().size(), 2u);
  EXPECT_EQ(run_async(store().read_log(run.run, 4, 1000)).value().size(), 2u);
}

TEST_P(StoreReads, RUN_10_HistoryPagesBackwardsWithoutAuditRows) {
  talk();

  auto const newest = run_async(store().history(kAnn, kThread, std::nullopt, page(2))).value();
  auto const older = run_async(store().history(kAnn, kThread, newest.next_before, page(2))).value();
  auto const oldest = run_async(store().history(kAnn, kThread, older.next_before, page(2))).value();

  EXPECT_EQ(ids(newest.messages), (Texts{"m4", "m5"}));
  EXPECT_EQ(newest.messages.back().run.text, "r1");
  EXPECT_EQ(newest.messages.back().content, "text of m5");
  EXPECT_EQ(newest.messages.back().role, Role::assistant);
  EXPECT_EQ(ids(older.messages), (Texts{"m2", "m3"}));
  EXPECT_EQ(ids(oldest.messages), Texts{"r1-user"});
  EXPECT_FALSE(oldest.next_before.has_value());
}

TEST_P(StoreReads, RUN_10_HistoryThatFitsInOnePageHasNoNext) {
  talk();

  EXPECT_FALSE(
      run_async(store().history(kAnn, kThread, std::nullopt, page(5))).value().next_before.has_value());
}

// The metadata of a row counts too; it has 27 bytes.
NewMessage long_answer(std::string id, std::size_t bytes) {
  auto out = answer(std::move(id));
  out.content = std::string(bytes, 'x');
  return out;
}

TEST_P(StoreReads, HTTP_9_PageOfHistoryEndsWithItsBytesButHasOneRow) {
  auto const run = admit(admission("r1"));
  auto const facts = batch(3, 3);
  ASSERT_TRUE(run_async(store().append(
      append_request(run.run, run.epoch, facts,
                     {long_answer("m2", 100), long_answer("m3", 100), long_answer("m4", 5000)}))));

  auto const newest = run_async(store().history(kAnn, kThread, std::nullopt, page(50, 300))).value();
  auto const older = run_async(store().history(kAnn, kThread, newest.next_before, page(50, 254))).value();
  auto const tight = run_async(store().history(kAnn, kThread, newest.next_before, page(50, 253))).value();
  auto const oldest = run_async(store().history(kAnn, kThread, older.next_before, page(50, 1))).value();

  EXPECT_EQ(ids(newest.messages), Texts{"m4"}) << "a row that is longer than the page";
  EXPECT_EQ(ids(older.messages), (Texts{"m2", "m3"}));
  EXPECT_EQ(ids(tight.messages), Texts{"m3"});
  EXPECT_EQ(ids(oldest.messages), Texts{"r1-user"});
  EXPECT_FALSE(oldest.next_before.has_value());
}

TEST_P(StoreReads, HTTP_9_ContextDropsTheOldestRowsThatDoNotFit) {
  auto const run = admit(admission("r1"));
  ASSERT_TRUE(run_async(store().append(
      append_request(run.run, run.epoch, batch(3, 3),
                     {long_answer("m2", 5000), long_answer("m3", 100), long_answer("m4", 100)}))));

  EXPECT_EQ(ids(run_async(store().context(run.thread, RunKey{}, page(50, 300))).value()),
            (Texts{"m3", "m4"}));
  EXPECT_EQ(ids(run_async(store().context(run.thread, RunKey{}, page(50, 1))).value()), Texts{"m4"});
}

TEST_P(StoreReads, FLOW_7_WhatTheReaderItselfProducedTakesNoRoomInItsContext) {
  auto const first = talk();
  end(first.run, first.epoch, batch(4, 4));
  auto const run = admit(admission("r2"));
  ASSERT_TRUE(
      run_async(store().append(append_request(run.run, run.epoch, batch(3, 3), {long_answer("own", 5000)}))));

  EXPECT_EQ(ids(run_async(store().context(run.thread, run.run, page(2, 1000))).value()),
            (Texts{"m5", "r2-user"}));
}

TEST_P(StoreReads, RUN_9_MasksDecideWhereARowIsSeen) {
  auto const run = admit(admission("r1"));
  auto shown = answer("shown");
  shown.mask = kUiHistory;
  auto remembered = answer("remembered");
  remembered.mask = kContextAssembly;
  auto neither = answer("neither");
  neither.mask = 0;
  (void)run_async(store().append(append_request(run.run, run.epoch, batch(3, 3),
                                                {shown, remembered, neither, audit("a1")})))
      .value();

  EXPECT_EQ(ids(run_async(store().history(kAnn, kThread, std::nullopt, page(10))).value().messages),
            (Texts{"r1-user", "shown"}));
  EXPECT_EQ(ids(run_async(store().context(run.thread, RunKey{}, page(10))).value()),
            (Texts{"r1-user", "remembered"}));
}

TEST_P(StoreReads, ContextIsTheNewestRowsOldestFirst) {
  auto const run = talk();

  EXPECT_EQ(ids(run_async(store().context(run.thread, RunKey{}, page(3))).value()),
            (Texts{"m3", "m4", "m5"}));
}

TEST_P(StoreReads, USE_8_UsageOfARunIsTheSumOfItsRowsAuditIncluded) {
  auto const run = admit(admission("r1"));
  auto told = answer("m1");
  told.input_tokens = 10;
  told.output_tokens = 4;
  told.cost = Money{7};
  auto stage = audit("a1");
  stage.input_tokens = 100;
  stage.output_tokens = 40;
  stage.cost = Money{1'000'000'000'001};
  for (auto const* const id : {"c1", "c2"})
    run_async(store().open_call(new_call(id, run))).value();
  auto request = append_request(run.run, run.epoch, batch(3, 3), {told, stage});
  request.call_ends = {call_end("c1", told.cost), call_end("c2", stage.cost)};
  request.bookings = {booking("c1", "m1", told.cost), booking("c2", "a1", stage.cost)};
  run_async(store().append(request)).value();

  auto const usage = run_async(store().run_usage(run.run)).value();

  EXPECT_EQ(usage.input_tokens, 110);
  EXPECT_EQ(usage.output_tokens, 44);
  EXPECT_EQ(usage.cost, Money{1'000'000'000'008});
  EXPECT_EQ(usage.currency, "CNY");
}

TEST_P(StoreReads, RUN_5_ThreadsAreListedNewestFirstInPages) {
  for (int i = 1; i <= 5; ++i) {
    auto request = admission("r" + std::to_string(i), "t" + std::to_string(i));
    request.now = kNow + (i == 4 ? 3 : i);  // Two have the same time.
    admit(request);
  }

  auto const first = run_async(store().threads(kAnn, "", 2)).value();
  auto const second = run_async(store().threads(kAnn, first.next, 2)).value();
  auto const third = run_async(store().threads(kAnn, second.next, 2)).value();

  EXPECT_EQ(ids(first.threads), (Texts{"t5", "t4"}));
  EXPECT_EQ(ids(second.threads), (Texts{"t3", "t2"}));
  EXPECT_EQ(ids(third.threads), Texts{"t1"});
  EXPECT_EQ(third.next, "");
  EXPECT_EQ(first.threads[0].status, ThreadStatus::running);
  EXPECT_EQ(first.threads[0].title, "title");
}

TEST_P(StoreReads, CursorThatIsNoneIsRefused) {
  EXPECT_EQ(refusal(run_async(store().threads(kAnn, "'; --", 2))), Errc::invalid);
}

TEST_P(StoreReads, RUN_12_RunsThatShouldBeGoingOnAreListedOldestFirst) {
  auto const running = admit(admission("r1"));
  auto const ended = admit(admission("r2", "t2"));
  auto queued = admission("r3", "t2");
  queued.on_busy = OnBusy::enqueue;
  auto const promoted = admit(queued);
  admit(admission("r4", OnBusy::enqueue));
  end(ended.run, ended.epoch, batch(3, 3));

  auto const runs = run_async(store().runs_to_recover(RunKey{}, 10)).value();

  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].key, running.run);
  EXPECT_EQ(runs[0].id, RunId{"r1"});
  EXPECT_EQ(runs[0].thread_id, kThread);
  EXPECT_EQ(runs[0].last_n, 2u);
  EXPECT_EQ(runs[1].key, promoted.run);
  EXPECT_EQ(runs[1].status, RunStatus::pending);
}

TEST_P(StoreReads, RUN_12_RunsThatShouldBeGoingOnComeInPagesWithoutWhatMayBeLong) {
  std::vector<RunKey> admitted;
  for (auto const* const name : {"a", "b", "c", "d", "e"}) {
    admitted.push_back(admit(admission(name, name)).run);
  }
  auto const keys = [this](RunKey after, std::size_t limit) {
    std::vector<RunKey> out;
    for (auto const& run : run_async(store().runs_to_recover(after, limit)).value()) {
      EXPECT_EQ(run.input + run.profile, "");
      out.push_back(run.key);
    }
    return out;
  };

  EXPECT_EQ(keys(RunKey{}, 2), (std::vector<RunKey>{admitted[0], admitted[1]}));
  EXPECT_EQ(keys(admitted[1], 2), (std::vector<RunKey>{admitted[2], admitted[3]}));
  EXPECT_EQ(keys(admitted[3], 2), std::vector<RunKey>{admitted[4]});
  EXPECT_TRUE(keys(admitted[4], 2).empty());
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreReads, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
