#include "runnel/store/thread_runs.h"

#include "runnel/store/testing/query_plan.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::store {
namespace {

class ThreadRunsContract : public StoreContract {
 protected:
  ThreadRuns runs() { return ThreadRuns{store()}; }

  // A run that has begun, and ended.
  RunKey whole(std::string name) {
    auto const run = admit(admission(std::move(name)));
    end(run.run, run.epoch, batch(3, 3));
    return run.run;
  }
  [[nodiscard]] ThreadKey thread() { return run_async(store().thread(kAnn, kThread)).value()->key; }

  std::optional<BegunRun> next(Epoch after, RunKey read) {
    return run_async(runs().next(thread(), after, read)).value();
  }
  // The keys of all runs behind this place, in order.
  std::vector<std::int64_t> all_after(Epoch after, RunKey read) {
    std::vector<std::int64_t> keys;
    while (auto const found = next(after, read)) {
      keys.push_back(found->key.value);
      after = found->epoch;
      read = found->key;
    }
    return keys;
  }
};

TEST_P(ThreadRunsContract, RUN_15_RunsComeInTheOrderInWhichTheyBegan) {
  auto const first = admit(admission("r1"));
  auto const second = admit(admission("r2", OnBusy::enqueue));
  auto const third = admit(admission("r3", OnBusy::interrupt));
  admit(admission("other", "t2"));
  EXPECT_EQ(all_after(0, {}), (std::vector{first.run.value})) << "queued runs have not begun";

  end(first.run, first.epoch, batch(3, 3));
  claim(third.run);

  EXPECT_EQ(all_after(0, {}), (std::vector{first.run.value, third.run.value}));
  EXPECT_EQ(all_after(first.epoch, first.run), (std::vector{third.run.value}));
  EXPECT_EQ(run_async(runs().newest(thread())).value()->key, third.run);
  EXPECT_FALSE(status(second.run) == RunStatus::running);
}

TEST_P(ThreadRunsContract, RUN_15_RunWithALaterWriterIsNotItsOwnSuccessor) {
  auto const run = admit(admission("r1"));
  auto const later = claim(run.run, kNow + 1000);
  ASSERT_GT(later.epoch, run.epoch);

  EXPECT_FALSE(next(run.epoch, run.run).has_value());
  EXPECT_EQ(run_async(runs().with_epoch(thread(), run.epoch)).value(), run.run);
  EXPECT_EQ(run_async(runs().with_epoch(thread(), later.epoch)).value(), run.run);
  EXPECT_EQ(run_async(runs().with_epoch(thread(), later.epoch + 1)).value(), std::nullopt);
  EXPECT_EQ(run_async(runs().with_epoch(thread(), run.epoch - 1)).value(), std::nullopt);
}

TEST_P(ThreadRunsContract, RUN_15_RunCanceledInTheQueueIsNotShown) {
  auto const first = admit(admission("r1"));
  auto const queued = admit(admission("r2", OnBusy::enqueue));
  run_async(store().discard({queued.run, kNow, batch(1, 2)})).value();
  ASSERT_GT(row(queued.run).epoch, first.epoch);

  EXPECT_EQ(all_after(0, {}), (std::vector{first.run.value}));
  EXPECT_EQ(run_async(runs().newest(thread())).value()->key, first.run);
}

TEST_P(ThreadRunsContract, RUN_15_EpochIsFoundAlthoughAQueuedRunWasCanceledMeanwhile) {
  auto const first = admit(admission("r1"));
  auto const queued = admit(admission("r2", OnBusy::enqueue));
  run_async(store().discard({queued.run, kNow, batch(1, 2)})).value();
  auto const later = claim(first.run, kNow + 1000);
  ASSERT_GT(later.epoch, row(queued.run).epoch);

  for (auto const epoch : {first.epoch, later.epoch})
    EXPECT_EQ(run_async(runs().with_epoch(thread(), epoch)).value(), first.run);
  EXPECT_EQ(run_async(runs().with_epoch(thread(), row(queued.run).epoch)).value(), queued.run);
}

TEST_P(ThreadRunsContract, RUN_15_ExpiredRunsArePassedOverAndNoted) {
  auto const expired = whole("r1");
  run_async(store().expire_logs(kNow + 21, 10)).value();
  ASSERT_TRUE(row(expired).log_expired);
  EXPECT_FALSE(next(0, {}).has_value());
  auto const kept = whole("r2");
  auto const later = whole("r3");

  auto const found = next(0, {}).value();
  EXPECT_EQ(found.key, kept);
  EXPECT_TRUE(found.expired_before);
  EXPECT_FALSE(next(found.epoch, found.key)->expired_before);
  EXPECT_EQ(next(found.epoch, found.key)->key, later);
  EXPECT_FALSE(next(row(expired).epoch, expired)->expired_before) << "that run has been read";
}

TEST_P(ThreadRunsContract, RUN_15_NextRunOfALongThreadIsFoundByAnIndex) {
  whole("r1");
  sql("INSERT INTO runs(owner_id, run_ref, thread_id, status, mode, epoch, input_hash, agui_version, "
      "created_at, "
      "started_at, ended_at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
      "SELECT 'ann', 'run-' || i, r.thread_id, 'completed', 'chat', r.epoch + i, 'h', '0.0', 1, 1, 2 FROM n, "
      "runs r "
      "WHERE r.run_ref = 'r1'");
  sql("INSERT INTO run_epochs(run_id, epoch, first_n) SELECT id, epoch, 1 FROM runs WHERE run_ref <> 'r1'");
  sql("ANALYZE");
  RecordingSql recorded{store()};
  ThreadRuns recording{recorded};
  auto const first = run_async(store().find_run(kAnn, kThread, RunId{"r1"})).value().value();
  run_async(recording.next(thread(), first.epoch, first.key)).value();
  run_async(recording.newest(thread())).value();
  run_async(recording.with_epoch(thread(), first.epoch)).value();

  ASSERT_EQ(recorded.was_read.size(), 3U);
  for (auto const& asked : recorded.was_read) {
    auto const plan = query_plan(GetParam(), store(), asked);
    EXPECT_TRUE(whole_tables(plan).empty()) << plan;
    EXPECT_NE(plan.find("idx_runs_thread_epoch"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("USE TEMP B-TREE"), std::string::npos) << plan;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, ThreadRunsContract, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
