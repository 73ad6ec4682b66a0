#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runnel/store/sqlite/db.h"
#include "runnel/store/sqlite/schema.h"
#include "runnel/store/sqlite/store.h"
#include "runnel/store/sqlite/wal_checkpointer.h"
#include "runnel/store/testing/sqlite_under_test.h"

// How little one part of a database affects the others: nobody waits long for the work of another user or for
// maintenance, and a damaged page affects only those who need it.
namespace runnel::store {
namespace {

class SqliteBounds : public testing::Test {
 protected:
  std::unique_ptr<Store> open() {
    SqliteOptions options;
    options.path = path_;
    return open_sqlite(std::move(options)).value();
  }
  std::string cell(std::string const& statement) { return sqlite_rows(path_, statement).value().at(0).at(0); }

  // A thread of ann whose run has ended and has about `rows` rows of log.
  void make_long_thread(Store& store, int rows) {
    auto const run = run_async(store.admit(admission("r1"))).value();
    run_async(store.end(end_request(run.run, run.epoch, batch(3, 3)))).value();
    sqlite::Db db{{path_, sqlite::Access::read_write_create, {}}};
    db.execute("DROP TRIGGER trg_log_ended");
    db.run(
        "WITH RECURSIVE numbers(n) AS (SELECT 4 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2) "
        "INSERT INTO log(run_id, first_n, last_n, epoch, body) SELECT ?1, n, n, 1, '[]' FROM numbers",
        run.run.value, rows);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("runnel.db");
};

struct Order {
  std::atomic<int> pieces{0};
  std::atomic<bool> over{false};
  std::vector<int> answered_after;  // For each admit, how many pieces were done when it was answered.
};

boost::asio::awaitable<void> purge_all(Store* store, Order* order) {
  PieceSize piece;
  piece.rows = 100;
  for (;;) {
    auto const rows = co_await store->purge(piece);
    if (rows.value() == 0) break;
    ++order->pieces;
  }
  order->over = true;
}

boost::asio::awaitable<void> admit_meanwhile(Store* store, Order* order) {
  for (int i = 0; !order->over; ++i) {
    auto const name = std::to_string(i);
    auto const admitted = co_await store->admit(admission("b" + name, "b" + name, "bob"));
    admitted.value();
    order->answered_after.push_back(order->pieces);
  }
}

TEST_F(SqliteBounds, OthersAreServedBetweenThePiecesOfALongDelete) {
  auto store = open();
  make_long_thread(*store, 20'000);
  ASSERT_EQ(run_async(store->delete_thread(kAnn, kThread)).value(), DeleteOutcome::deleted);
  EXPECT_GT(std::stoi(cell("SELECT count(*) FROM log")), 19'000);

  Order order;
  boost::asio::io_context context{1};
  boost::asio::co_spawn(context, purge_all(store.get(), &order), boost::asio::detached);
  boost::asio::co_spawn(context, admit_meanwhile(store.get(), &order), boost::asio::detached);
  context.run();

  EXPECT_EQ(cell("SELECT count(*) FROM log WHERE run_id = 1"), "0");
  EXPECT_EQ(cell("SELECT count(*) FROM agent_chat_sessions WHERE id = 1"), "0");
  EXPECT_GE(order.pieces, 150);
  std::set<int> const moments{order.answered_after.begin(), order.answered_after.end()};
  EXPECT_GE(moments.size(), 20U) << "admits were answered after this many different numbers of pieces";
}

TEST_F(SqliteBounds, DeleteGoesOnAfterARestart) {
  auto store = open();
  make_long_thread(*store, 2'000);
  ASSERT_EQ(run_async(store->delete_thread(kAnn, kThread)).value(), DeleteOutcome::deleted);
  ASSERT_GT(run_async(store->purge({100, std::chrono::seconds{10}})).value(), 0U);

  store.reset();
  store = open();
  EXPECT_FALSE(run_async(store->thread(kAnn, kThread)).value());
  EXPECT_GT(std::stoi(cell("SELECT count(*) FROM log")), 1'000);
  while (run_async(store->purge({})).value() > 0) {
  }

  for (auto const* const table : {"log", "runs", "agent_chat_messages", "agent_chat_sessions", "purges"}) {
    EXPECT_EQ(cell(std::string{"SELECT count(*) FROM "} + table), "0") << table;
  }
}

TEST_F(SqliteBounds, CheckpointHoldsTheWriterForASmallPartOfTheLogOnly) {
  constexpr std::size_t kThreshold = std::size_t{1} << 20U;
  sqlite::DbOptions const options{path_, sqlite::Access::read_write_create, {}};
  sqlite::Db writer{options};
  sqlite::enter_wal_mode(writer);
  writer.execute("CREATE TABLE rows(body TEXT NOT NULL)");
  std::size_t wal_bytes = 0;
  sqlite3_wal_hook(
      writer.handle(),
      [](void* bytes, sqlite3*, char const*, int pages) {
        *static_cast<std::size_t*>(bytes) = static_cast<std::size_t>(pages) * 4096;
        return SQLITE_OK;
      },
      &wal_bytes);
  sqlite::WalCheckpointer checkpointer{options, kThreshold};
  std::string const body(10'000, 'x');
  int started_over = 0;
  for (int i = 0; i < 20'000 && started_over < 3; ++i) {
    auto const before = wal_bytes;
    writer.run("INSERT INTO rows VALUES (?1)", body);
    if (wal_bytes < before) ++started_over;
    checkpointer.on_commit(wal_bytes);
    // A writer that never pauses may outrun a checkpointer that the machine lets wait, and is blocked for
    // longer then.
    std::this_thread::sleep_for(std::chrono::microseconds{200});
  }

  EXPECT_GE(started_over, 3);
  EXPECT_LE(checkpointer.most_held_pages() * 4096, static_cast<int>(kThreshold));
}

class SqliteDamage : public SqliteBounds {
 protected:
  // The database must be closed.
  void damage_root_of(std::string const& table) {
    constexpr std::size_t kPage = 4096;
    auto const root = std::stoul(cell("SELECT rootpage FROM sqlite_master WHERE name = '" + table + "'"));
    std::fstream file{path_, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(static_cast<std::streamoff>((root - 1) * kPage));
    file << std::string(kPage, '\x5a');
  }
};

TEST_F(SqliteDamage, RUN_12_RunWhoseLogIsOnADamagedPageEnds) {
  auto store = open();
  auto const run = run_async(store->admit(admission("r1"))).value();
  auto const next = run_async(store->admit(admission("r2", OnBusy::enqueue))).value();
  store.reset();
  damage_root_of("log");
  store = open();
  EXPECT_EQ(run_async(store->read_log(run.run, 0, 1000)).error().code, Errc::internal);

  auto const seen = run_async(store->log_end(run.run)).value();
  ForceEndRequest request;
  request.seen_epoch = seen.epoch;
  request.end = end_request(run.run, 0, batch(seen.last_n + 1, seen.last_n + 1), RunStatus::failed);
  auto const ended = run_async(store->force_end(request));

  EXPECT_EQ(seen.last_n, 2u) << "as the run's row says";
  ASSERT_TRUE(ended.has_value()) << ended.error().detail;
  EXPECT_EQ(ended->promoted, next.run);
  auto const row = run_async(store->run_by_key(run.run)).value().value();
  EXPECT_EQ(row.status, RunStatus::failed);
  EXPECT_TRUE(row.log_expired);
  EXPECT_EQ(run_async(store->force_end(request)).error().code, Errc::conflict)
      << "a repeat cannot be recognized";
}

TEST_F(SqliteDamage, WhoeverMeetsADamagedPageLearnsItAndItsNeighboursDoNot) {
  auto store = open();
  auto const run = run_async(store->admit(admission("r1"))).value();
  store.reset();
  damage_root_of("log");
  store = open();
  std::vector<Async<void>> work;
  work.push_back(store->ensure_user(kAnn, 1));
  work.push_back(store->append(append_request(run.run, run.epoch, batch(3, 3))));
  work.push_back(store->ensure_user(kBob, 1));

  auto const outcomes = run_all_async(std::move(work));

  EXPECT_TRUE(outcomes[0]);
  ASSERT_TRUE(outcomes[1].has_error());
  EXPECT_EQ(outcomes[1].error().code, Errc::internal) << "repeating does not help";
  EXPECT_TRUE(outcomes[2]);
  EXPECT_EQ(cell("SELECT count(*) FROM users"), "2");
  EXPECT_EQ(cell("SELECT last_n FROM runs"), "2");
}

TEST_F(SqliteDamage, DamagedPageHoldsUpNoOtherDeletion) {
  auto store = open();
  for (auto const* const name : {"stuck", "free"}) {
    auto const run = run_async(store->admit(admission(name, name))).value();
    run_async(store->end(end_request(run.run, run.epoch, batch(3, 3)))).value();
    run_async(store->delete_thread(kAnn, ThreadId{name})).value();
  }
  store.reset();
  sqlite_rows(path_, "DELETE FROM log WHERE run_id = (SELECT id FROM runs WHERE run_ref = 'free')").value();
  damage_root_of("log");
  store = open();

  for (int sweep = 0; sweep < 2; ++sweep) {
    while (run_async(store->purge({})).value() > 0) {
    }
  }

  EXPECT_EQ(cell("SELECT group_concat(run_ref) FROM runs"), "stuck");
  EXPECT_EQ(cell("SELECT count(*) FROM purges"), "1");
}

TEST_F(SqliteDamage, DamagedPageBehindWhatCannotBeDeletedHoldsNothingUp) {
  auto store = open();
  for (auto const* const name : {"referenced", "damaged", "free"}) {
    auto const run = run_async(store->admit(admission(name, name))).value();
    run_async(store->end(end_request(run.run, run.epoch, batch(3, 3)))).value();
    run_async(store->delete_thread(kAnn, ThreadId{name})).value();
  }
  store.reset();
  sqlite_rows(path_, "DELETE FROM log WHERE run_id IN (SELECT id FROM runs WHERE run_ref <> 'damaged')")
      .value();
  sqlite_rows(path_, "CREATE TABLE notes(run_id bigint REFERENCES runs(id))").value();
  sqlite_rows(path_, "INSERT INTO notes SELECT id FROM runs WHERE run_ref = 'referenced'").value();
  damage_root_of("log");
  store = open();

  while (run_async(store->purge({})).value() > 0) {
  }

  EXPECT_EQ(cell("SELECT group_concat(run_ref) FROM (SELECT run_ref FROM runs ORDER BY id)"),
            "referenced,damaged");
  EXPECT_EQ(cell("SELECT count(*) FROM purges"), "2");
}

}  // namespace
}  // namespace runnel::store
