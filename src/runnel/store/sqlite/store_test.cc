#include "runnel/store/sqlite/store.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "runnel/store/sqlite/db.h"
#include "runnel/store/testing/fault_vfs.h"
#include "runnel/store/testing/sqlite_under_test.h"

// What only SQLite promises: one file, its versions, a disk that fails.
namespace runnel::store {
namespace {

class SqliteStoreTest : public testing::Test {
 protected:
  ~SqliteStoreTest() override { FaultVfs::instance().disarm(); }

  Result<std::unique_ptr<Database>> open(std::string vfs = {}) {
    SqliteOptions options;
    options.path = path_;
    options.vfs = std::move(vfs);
    options.metrics = metrics;
    return open_sqlite(std::move(options));
  }
  std::string cell(std::string const& statement) { return sqlite_rows(path_, statement).value().at(0).at(0); }

  StoreMetrics metrics;
  TemporaryFolder folder_;
  std::string path_ = folder_.file("runnel.db");
};

TEST_F(SqliteStoreTest, I6_WhatWasCommittedIsThereAfterReopening) {
  auto store = open().value();
  auto const run = run_async(store->admit(admission("r1"))).value();
  ASSERT_TRUE(run_async(store->append(append_request(run.run, run.epoch, batch(3, 4), {answer("m1")}))));

  store.reset();
  store = open().value();

  EXPECT_EQ(run_async(store->run_by_key(run.run)).value().value().last_n, 4u);
  EXPECT_EQ(
      run_async(store->history(UserId{"ann"}, ThreadId{"t1"}, std::nullopt, {})).value().messages.size(), 2u);
}

TEST_F(SqliteStoreTest, CleanCloseLeavesOneFile) {
  auto store = open().value();
  run_async(store->admit(admission("r1"))).value();

  store.reset();

  EXPECT_TRUE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
}

TEST_F(SqliteStoreTest, DB_1_MigrationsAreAppliedOnce) {
  open().value().reset();
  auto const applied =
      cell("SELECT group_concat(feature || number || '@' || applied_at) FROM schema_migrations");

  open().value().reset();

  EXPECT_EQ(cell("SELECT group_concat(feature || number || '@' || applied_at) FROM schema_migrations"),
            applied);
}

TEST_F(SqliteStoreTest, DB_1_DatabaseFromBeforeTheFirstReleaseIsRefusedAndLeftAsItIs) {
  sqlite_rows(path_, "CREATE TABLE schema_migrations(version INTEGER PRIMARY KEY, applied_at INTEGER)")
      .value();
  sqlite_rows(path_, "INSERT INTO schema_migrations VALUES (6, 1)").value();

  auto const refused = open();

  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_NE(refused.error().detail.find("before the first release"), std::string::npos)
      << refused.error().detail;
  EXPECT_EQ(cell("SELECT group_concat(name) FROM sqlite_master"), "schema_migrations");
}

TEST_F(SqliteStoreTest, DB_1_DatabaseOfANewerVersionIsRefused) {
  open().value().reset();
  sqlite_rows(path_, "INSERT INTO schema_migrations(feature, number, applied_at) VALUES ('runs', 999, 1)")
      .value();

  auto const refused = open();

  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_NE(refused.error().detail.find("newer"), std::string::npos) << refused.error().detail;
}

TEST_F(SqliteStoreTest, PlaceThatDoesNotExistIsNamedInTheError) {
  SqliteOptions options;
  options.path = "/nowhere/at/all/runnel.db";

  auto const refused = open_sqlite(options);

  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_NE(refused.error().detail.find("/nowhere/at/all"), std::string::npos) << refused.error().detail;
}

TEST_F(SqliteStoreTest, DB_3_FullDiskIsUnavailableAndTheStoreRecovers) {
  auto& disk = FaultVfs::instance();
  auto store = open(disk.name()).value();
  auto const run = run_async(store->admit(admission("r1"))).value();
  disk.arm({0, SQLITE_FULL, true});

  auto const append = append_request(run.run, run.epoch, batch(3, 4), {answer("m1")});
  auto const refused = run_async(store->append(append));
  auto const sick = run_async(store->probe());
  auto const read = run_async(store->run_by_key(run.run));
  disk.disarm();

  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  ASSERT_TRUE(sick.has_error());
  EXPECT_EQ(sick.error().code, Errc::unavailable);
  EXPECT_EQ(read.value().value().last_n, 2u);
  EXPECT_TRUE(run_async(store->probe()));
  EXPECT_TRUE(run_async(store->append(append)));
  store.reset();
  EXPECT_EQ(cell("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(cell("SELECT last_n FROM runs"), "4");
}

TEST_F(SqliteStoreTest, DB_3_FullDiskFailsTheWholeGroupAndNothingIsHalfWritten) {
  auto& disk = FaultVfs::instance();
  auto store = open(disk.name()).value();
  disk.arm({0, SQLITE_FULL, true});
  std::vector<Async<Admission>> work;
  for (int i = 0; i < 40; ++i) {
    work.push_back(store->admit(admission("r" + std::to_string(i), "t" + std::to_string(i))));
  }

  auto const outcomes = run_all_async(std::move(work));
  disk.disarm();

  for (auto const& outcome : outcomes) {
    ASSERT_TRUE(outcome.has_error());
    EXPECT_EQ(outcome.error().code, Errc::unavailable);
  }
  EXPECT_EQ(cell("SELECT count(*) FROM runs"), "0");
  EXPECT_EQ(cell("SELECT count(*) FROM agent_chat_sessions"), "0");
}

TEST_F(SqliteStoreTest, HTTP_7_CommitsAndFailuresAreCounted) {
  base::Metrics counted;
  metrics = StoreMetrics{counted};
  auto& disk = FaultVfs::instance();
  auto store = open(disk.name()).value();
  run_async(store->admit(admission("r1"))).value();
  auto const good = counted.text();
  disk.arm({0, SQLITE_FULL, true});
  EXPECT_TRUE(run_async(store->probe()).has_error());
  disk.disarm();
  store.reset();

  EXPECT_EQ(good.find("\nrunnel_store_wal_bytes 0\n"), std::string::npos);
  for (char const* line : {"runnel_store_commit_seconds_count 1", "runnel_store_group_size_sum 1",
                           "runnel_store_errors_total{of=\"group\"} 0", "runnel_store_queue_depth 0"}) {
    EXPECT_NE(good.find(std::string{"\n"} + line + "\n"), std::string::npos) << line << good;
  }
  EXPECT_NE(counted.text().find("\nrunnel_store_errors_total{of=\"group\"} 1\n"), std::string::npos);
}

// The life of a run while the Nth write or sync fails; each refused call is sent again. The tests do this for
// every N until a run meets no failure. For every N there must be one run, one log, one end and an intact
// database.
void live_through_faults(Store& store) {
  auto const persist = [](auto call) {
    for (int attempt = 0;; ++attempt) {
      auto outcome = run_async(call());
      if (outcome) return std::move(*outcome);
      EXPECT_EQ(outcome.error().code, Errc::unavailable) << outcome.error().detail;
      if (attempt == 20) throw std::runtime_error("the store does not recover: " + outcome.error().detail);
    }
  };
  auto const admitted = persist([&] { return store.admit(admission("r1")); });
  auto const queued = persist([&] { return store.admit(admission("r2", OnBusy::enqueue)); });
  for (std::uint64_t n = 3; n <= 5; ++n) {
    auto const request = append_request(admitted.run, admitted.epoch, batch(n, n, std::string(6000, 'x')),
                                        {answer("m" + std::to_string(n))});
    for (int attempt = 0; !run_async(store.append(request)); ++attempt) {
      ASSERT_LT(attempt, 20);
    }
  }
  auto const ended =
      persist([&] { return store.end(end_request(admitted.run, admitted.epoch, batch(6, 6))); });
  EXPECT_EQ(ended.promoted, queued.run);
}

class SqliteFailNth : public SqliteStoreTest, public testing::WithParamInterface<int> {};

TEST_P(SqliteFailNth, DB_3_EveryCallOfARunsLifeSurvivesTheNthFailure) {
  auto& disk = FaultVfs::instance();
  open().value().reset();
  auto const empty = path_;
  long nth = 0;
  for (bool touched = true; touched; ++nth) {
    TemporaryFolder const folder;
    path_ = folder.file("runnel.db");
    std::filesystem::copy_file(empty, path_);
    auto store = open(disk.name()).value();
    disk.arm({nth, GetParam(), false});
    live_through_faults(*store);
    touched = disk.failed() > 0;
    disk.disarm();
    store.reset();

    ASSERT_FALSE(HasFailure()) << "at failure number " << nth;
    ASSERT_EQ(cell("PRAGMA integrity_check"), "ok");
    ASSERT_EQ(cell("SELECT group_concat(run_ref || ' ' || status || ' ' || last_n) FROM runs"),
              "r1 completed 6,r2 pending 0");
    ASSERT_EQ(cell("SELECT group_concat(first_n) FROM (SELECT first_n FROM log ORDER BY first_n)"),
              "1,3,4,5,6");
    ASSERT_EQ(cell("SELECT group_concat(seq) FROM (SELECT seq FROM agent_chat_messages ORDER BY seq)"),
              "1,2,3,4");
  }
  EXPECT_GT(nth, 20) << "a run's life writes more often than this";
}

INSTANTIATE_TEST_SUITE_P(Disk, SqliteFailNth, testing::Values(SQLITE_FULL, SQLITE_IOERR_WRITE));

TEST_F(SqliteStoreTest, WalIsCopiedBackWhileWritesGoOn) {
  SqliteOptions options;
  options.path = path_;
  options.checkpoint_bytes = 64 << 10;
  auto store = open_sqlite(options).value();
  auto const run = run_async(store->admit(admission("r1"))).value();

  // Every commit writes a page at least. How far the file has grown when the checkpointer begins depends on
  // the machine, but once it has begun the file does not grow with what is written.
  auto const wal_bytes = [this] { return std::filesystem::file_size(path_ + "-wal"); };
  std::uint64_t n = 3;
  for (; n < 100 || (n < 20'000 && n * 4096 < wal_bytes() * 3); ++n) {
    ASSERT_TRUE(
        run_async(store->append(append_request(run.run, run.epoch, batch(n, n, std::string(3000, 'x'))))));
  }

  EXPECT_GE(n * 4096, wal_bytes() * 3);
}

TEST_F(SqliteStoreTest, LockedDatabaseIsWaitedFor) {
  auto store = open().value();
  sqlite::Db other{{path_, sqlite::Access::read_write_create, {}}};
  other.execute("BEGIN IMMEDIATE");
  std::thread holder{[&other] {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    other.execute("COMMIT");
  }};

  auto const admitted = run_async(store->admit(admission("r1")));
  holder.join();

  EXPECT_TRUE(admitted.has_value());
}

TEST_F(SqliteStoreTest, WhatPilesUpIsOneCommitAndAViolationInItStaysAlone) {
  auto& disk = FaultVfs::instance();
  auto store = open(disk.name()).value();
  sqlite::Db other{{path_, sqlite::Access::read_write_create, {}}};
  other.execute("BEGIN IMMEDIATE");
  std::vector<Async<Admission>> work;
  for (int i = 0; i < 50; ++i) {
    auto request = admission("r" + std::to_string(i), "t" + std::to_string(i));
    if (i == 25) request.begin.user_message.metadata = "{}";
    work.push_back(store->admit(std::move(request)));
  }
  auto const syncs_before = disk.syncs();
  std::thread holder{[&other] {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    other.execute("COMMIT");
  }};

  auto const outcomes = run_all_async(std::move(work));
  holder.join();

  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcomes[i].has_value(), i != 25) << i;
  }
  EXPECT_EQ(cell("SELECT count(*) FROM runs"), "49");
  EXPECT_LE(disk.syncs() - syncs_before, 3);
}

Async<void> without_result(Async<std::vector<SqlResult>> work) {
  auto const outcome = co_await std::move(work);
  if (!outcome) co_return outcome.error();
  co_return Result<void>{};
}

Async<void> noting_the_end(Async<void> work, std::vector<std::string>* ended, std::string name) {
  auto const outcome = co_await std::move(work);
  ended->push_back(std::move(name));
  co_return outcome;
}

TEST_F(SqliteStoreTest, HTTP_9_SmallWritesPassLargeOnes) {
  base::Metrics counted;
  metrics = StoreMetrics{counted};
  auto store = open().value();
  constexpr int kRuns = 20;
  std::vector<std::string> ended;
  std::vector<Async<void>> work;
  for (int i = 0; i < kRuns; ++i) {
    auto const name = std::to_string(i);
    auto const admitted = run_async(store->admit(admission("r" + name, "t" + name))).value();
    auto request = append_request(admitted.run, admitted.epoch, batch(3, 3, std::string(200'000, 'x')));
    work.push_back(noting_the_end(store->append(std::move(request)), &ended, "large"));
  }
  work.push_back(noting_the_end(store->probe(), &ended, "small"));
  sqlite::Db other{{path_, sqlite::Access::read_write_create, {}}};
  other.execute("BEGIN IMMEDIATE");
  std::thread holder{[&other] {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    other.execute("COMMIT");
  }};

  auto const outcomes = run_all_async(std::move(work));
  holder.join();

  for (auto const& outcome : outcomes)
    EXPECT_TRUE(outcome.has_value());
  // One is being written, and two come with the small one.
  auto const place = std::find(ended.begin(), ended.end(), "small") - ended.begin();
  EXPECT_LE(place, 3);
  EXPECT_EQ(cell("SELECT count(*) FROM log WHERE length(body) >= 200000"), std::to_string(kRuns));
}

// What a module writes counts, too.
TEST_F(SqliteStoreTest, HTTP_9_SmallWritesPassLargeOnesOfModules) {
  auto store = open().value();
  run_async(store->write_one(statement("CREATE TABLE notes(text TEXT)"))).value();
  std::vector<std::string> ended;
  std::vector<Async<void>> work;
  for (int i = 0; i < 20; ++i) {
    std::vector<SqlStatement> statements;
    for (int row = 0; row < 50; ++row)
      statements.push_back(statement("INSERT INTO notes VALUES ($1)", std::string(4000, 'x')));
    work.push_back(noting_the_end(without_result(store->write(std::move(statements))), &ended, "large"));
  }
  work.push_back(noting_the_end(store->probe(), &ended, "small"));
  sqlite::Db other{{path_, sqlite::Access::read_write_create, {}}};
  other.execute("BEGIN IMMEDIATE");
  std::thread holder{[&other] {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    other.execute("COMMIT");
  }};

  auto const outcomes = run_all_async(std::move(work));
  holder.join();

  for (auto const& outcome : outcomes)
    EXPECT_TRUE(outcome.has_value());
  EXPECT_LE(std::find(ended.begin(), ended.end(), "small") - ended.begin(), 3);
  EXPECT_EQ(cell("SELECT count(*) FROM notes"), "1000");
}

TEST_F(SqliteStoreTest, CanceledWaiterStillLearnsTheOutcome) {
  auto store = open().value();
  boost::asio::io_context context{1};
  boost::asio::cancellation_signal cancel;
  std::optional<Result<Admission>> outcome;
  boost::asio::co_spawn(context, store->admit(admission("r1")),
                        boost::asio::bind_cancellation_slot(
                            cancel.slot(), [&outcome](std::exception_ptr thrown, Result<Admission> value) {
                              ASSERT_FALSE(thrown);
                              outcome = std::move(value);
                            }));
  context.poll_one();
  cancel.emit(boost::asio::cancellation_type::all);
  context.run();

  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->has_value());
}

}  // namespace
}  // namespace runnel::store
