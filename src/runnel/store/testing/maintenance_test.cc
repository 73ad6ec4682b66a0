#include "runnel/store/testing/store_contract.h"

namespace runnel::store {
namespace {

class StoreMaintenance : public StoreContract {};

TEST_P(StoreMaintenance, SSE_4_ExpiredLogIsGoneAndTheRunSaysSo) {
  auto const old = admit(admission("r1"));
  end(old.run, old.epoch, batch(3, 3));
  auto const active = admit(admission("r2", "t2"));

  auto const expired = run_async(store().expire_logs(kNow + 21, 10)).value();

  EXPECT_EQ(expired, 1u);
  EXPECT_TRUE(row(old.run).log_expired);
  EXPECT_TRUE(run_async(store().read_log(old.run, 0, 1000)).value().empty());
  EXPECT_FALSE(row(active.run).log_expired);
  EXPECT_EQ(run_async(store().read_log(active.run, 0, 1000)).value().size(), 1u);
  EXPECT_EQ(run_async(store().history(kAnn, kThread, std::nullopt, {})).value().messages.size(), 1u);
}

TEST_P(StoreMaintenance, ExpiryKeepsYoungLogsAndItsLimit) {
  for (auto const* const name : {"a", "b", "c"}) {
    auto const run = admit(admission(name, name));
    end(run.run, run.epoch, batch(3, 3));
  }

  EXPECT_EQ(run_async(store().expire_logs(kNow + 20, 10)).value(), 0u);
  EXPECT_EQ(run_async(store().expire_logs(kNow + 21, 2)).value(), 2u);
  EXPECT_EQ(run_async(store().expire_logs(kNow + 21, 2)).value(), 1u);
  EXPECT_EQ(run_async(store().expire_logs(kNow + 21, 2)).value(), 0u);
}

TEST_P(StoreMaintenance, RUN_5_RenamedThreadKeepsItsNewTitle) {
  auto const first = admit(admission("r1"));
  end(first.run, first.epoch, batch(3, 3));

  ASSERT_TRUE(run_async(store().rename_thread(kAnn, kThread, "mine", kNow + 99)));
  admit(admission("r2"));

  auto const found = run_async(store().thread(kAnn, kThread)).value().value();
  EXPECT_EQ(found.title, "mine");
  EXPECT_EQ(found.updated_at, kNow + 99);
}

TEST_P(StoreMaintenance, TitleThatNoEngineCanHoldIsRefused) {
  admit(admission("r1"));

  auto const title = std::string{"a\0b", 3};
  EXPECT_EQ(refusal(run_async(store().rename_thread(kAnn, kThread, title, kNow))), Errc::invalid);
}

TEST_P(StoreMaintenance, HTTP_3_AnothersThreadCannotBeRenamedOrDeleted) {
  auto const run = admit(admission("r1"));
  end(run.run, run.epoch, batch(3, 3));

  EXPECT_EQ(refusal(run_async(store().rename_thread(kBob, kThread, "mine", kNow))), Errc::not_found);
  EXPECT_EQ(run_async(store().delete_thread(kBob, kThread)).value(), DeleteOutcome::not_found);
  EXPECT_EQ(thread_column("title"), "title");
}

TEST_P(StoreMaintenance, RUN_5_DeletedThreadLeavesNothing) {
  auto const run = admit(admission("r1"));
  end(run.run, run.epoch, batch(3, 3));

  EXPECT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::deleted);
  purge_all();

  for (auto const* const table :
       {"agent_chat_sessions", "agent_chat_messages", "runs", "run_inputs", "run_epochs", "log", "purges"}) {
    EXPECT_EQ(sql(std::string{"SELECT count(*) FROM "} + table).at(0).at(0), "0") << table;
  }
  EXPECT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::not_found);
}

TEST_P(StoreMaintenance, RUN_5_DeletedThreadIsGoneAtOnceAndItsNamesAreFree) {
  auto const run = admit(admission("r1"));
  end(run.run, run.epoch, batch(3, 3));
  ASSERT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::deleted);
  ASSERT_EQ(cell("SELECT count(*) FROM log"), "2") << "the rows are still there";

  EXPECT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::not_found);
  EXPECT_FALSE(run_async(store().thread(kAnn, kThread)).value());
  EXPECT_TRUE(run_async(store().threads(kAnn, "", 10)).value().threads.empty());
  EXPECT_EQ(refusal(run_async(store().history(kAnn, kThread, std::nullopt, {}))), Errc::not_found);
  EXPECT_EQ(refusal(run_async(store().rename_thread(kAnn, kThread, "mine", kNow))), Errc::not_found);
  EXPECT_FALSE(run_async(store().find_run(kAnn, kThread, RunId{"r1"})).value());
  EXPECT_FALSE(run_async(store().run_by_key(run.run)).value());
  EXPECT_TRUE(run_async(store().read_log(run.run, 0, 1000)).value().empty());

  auto again = admission("r1");
  again.input_hash = "another";
  auto const next = admit(again);
  EXPECT_EQ(next.outcome, Admission::Outcome::running);
  purge_all();
  EXPECT_EQ(cell("SELECT count(*) FROM runs"), "1");
  EXPECT_EQ(cell("SELECT count(*) FROM log"), "1");
  EXPECT_EQ(run_async(store().history(kAnn, kThread, std::nullopt, {})).value().messages.size(), 1u);
}

TEST_P(StoreMaintenance, SSE_4_ExpiredLogIsUnreadableBeforeItsRowsAreGone) {
  auto const run = admit(admission("r1"));
  end(run.run, run.epoch, batch(3, 3));
  ASSERT_EQ(run_async(store().expire_logs(kNow + 21, 10)).value(), 1u);

  EXPECT_EQ(cell("SELECT count(*) FROM log"), "2");
  EXPECT_TRUE(run_async(store().read_log(run.run, 0, 1000)).value().empty());
  purge_all();
  EXPECT_EQ(cell("SELECT count(*) FROM log"), "0");
  EXPECT_EQ(run_async(store().history(kAnn, kThread, std::nullopt, {})).value().messages.size(), 1u);
}

TEST_P(StoreMaintenance, APieceOfWhatIsDeletedHasABound) {
  auto const run = admit(admission("r1"));
  for (std::uint64_t n = 3; n < 203; ++n) {
    ASSERT_TRUE(run_async(store().append(append_request(run.run, run.epoch, batch(n, n)))));
  }
  end(run.run, run.epoch, batch(203, 203));
  ASSERT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::deleted);

  PieceSize piece;
  piece.rows = 8;
  piece.time = std::chrono::minutes{1};
  auto const rows = run_async(store().purge(piece)).value();
  EXPECT_GE(rows, 8u);
  EXPECT_LE(rows, 64u);
  piece.time = std::chrono::milliseconds{0};
  piece.rows = 100'000;
  EXPECT_LE(run_async(store().purge(piece)).value(), 64u);
  EXPECT_GT(std::stoi(cell("SELECT count(*) FROM log")), 70);
}

TEST_P(StoreMaintenance, WhatCannotBeDeletedHoldsNothingElseUp) {
  for (auto const* const name : {"stuck", "free"}) {
    auto const run = admit(admission(name, name));
    end(run.run, run.epoch, batch(3, 3));
  }
  sql("CREATE TABLE notes(run_id bigint REFERENCES runs(id))");
  sql("INSERT INTO notes SELECT id FROM runs WHERE run_ref = 'stuck'");
  ASSERT_EQ(run_async(store().delete_thread(kAnn, ThreadId{"stuck"})).value(), DeleteOutcome::deleted);
  ASSERT_EQ(run_async(store().delete_thread(kAnn, ThreadId{"free"})).value(), DeleteOutcome::deleted);

  purge_all();
  EXPECT_EQ(sql("SELECT run_ref FROM runs"), (TextRows{{"stuck"}}));
  EXPECT_EQ(cell("SELECT count(*) FROM purges"), "1") << "it is tried again";
  sql("DROP TABLE notes");
  purge_all();

  EXPECT_EQ(cell("SELECT count(*) FROM runs"), "0");
  EXPECT_EQ(cell("SELECT count(*) FROM purges"), "0");
}

TEST_P(StoreMaintenance, APieceWithoutTimeGoesOnUntilARowIsDeleted) {
  for (auto const* const name : {"stuck", "free"}) {
    auto const run = admit(admission(name, name));
    end(run.run, run.epoch, batch(3, 3));
  }
  sql("CREATE TABLE notes(run_id bigint REFERENCES runs(id))");
  sql("INSERT INTO notes SELECT id FROM runs WHERE run_ref = 'stuck'");
  ASSERT_EQ(run_async(store().delete_thread(kAnn, ThreadId{"stuck"})).value(), DeleteOutcome::deleted);
  ASSERT_EQ(run_async(store().delete_thread(kAnn, ThreadId{"free"})).value(), DeleteOutcome::deleted);

  PieceSize piece;
  piece.time = std::chrono::milliseconds{0};
  while (run_async(store().purge(piece)).value() > 0) {
  }
  EXPECT_EQ(sql("SELECT run_ref FROM runs"), (TextRows{{"stuck"}}));
}

TEST_P(StoreMaintenance, APieceTriesABoundedNumberOfWhatCannotBeDeleted) {
  sql("CREATE TABLE notes(run_id bigint REFERENCES runs(id))");
  for (int i = 0; i < 5; ++i) {
    auto const name = "stuck-" + std::to_string(i);
    auto const run = admit(admission(name, name));
    end(run.run, run.epoch, batch(3, 3));
    sql("INSERT INTO notes SELECT id FROM runs WHERE run_ref = '" + name + "'");
    ASSERT_EQ(run_async(store().delete_thread(kAnn, ThreadId{name})).value(), DeleteOutcome::deleted);
  }
  purge_all();
  auto const last = std::stoll(cell("SELECT max(number) FROM purges"));

  PieceSize piece;
  piece.failures = 3;
  EXPECT_EQ(run_async(store().purge(piece)).value(), 0u);
  EXPECT_EQ(cell("SELECT count(*) FROM purges WHERE number > " + std::to_string(last)), "3");
  EXPECT_EQ(cell("SELECT count(*) FROM purges"), "5");
}

TEST_P(StoreMaintenance, KeysOfDeletedRunsAreNotGivenAgain) {
  auto const run = admit(admission("r1"));
  end(run.run, run.epoch, batch(3, 3));
  ASSERT_TRUE(run_async(store().delete_thread(kAnn, kThread)));

  auto const next = admit(admission("r1"));

  EXPECT_NE(next.run, run.run);
  EXPECT_NE(next.thread, run.thread);
}

TEST_P(StoreMaintenance, RUN_5_ThreadWithARunThatHasNotEndedIsNotDeleted) {
  auto const run = admit(admission("r1"));
  EXPECT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::busy);

  admit(admission("r2", OnBusy::enqueue));
  end(run.run, run.epoch, batch(3, 3));

  EXPECT_EQ(run_async(store().delete_thread(kAnn, kThread)).value(), DeleteOutcome::busy);
}

TEST_P(StoreMaintenance, UserIsMadeOnce) {
  ASSERT_TRUE(run_async(store().ensure_user(kAnn, 1)));
  ASSERT_TRUE(run_async(store().ensure_user(kAnn, 2)));

  EXPECT_EQ(sql("SELECT id, created_at FROM users"), (TextRows{{"ann", "1"}}));
}

TEST_P(StoreMaintenance, HTTP_7_ProbeOfAHealthyStoreSucceeds) {
  EXPECT_TRUE(run_async(store().probe()));
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreMaintenance, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
