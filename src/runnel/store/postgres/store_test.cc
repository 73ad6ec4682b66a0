#include "runnel/store/postgres/store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runnel/store/postgres/error.h"
#include "runnel/store/testing/ledger_contract.h"
#include "runnel/store/testing/postgres_under_test.h"
#include "runnel/store/testing/store_contract.h"
#include "tests/support/postgres_server.h"

// What only PostgreSQL promises: connections that break, other nodes, transactions that the server undoes.
namespace runnel::store {
namespace {

class PostgresStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    auto const* const server = PostgresServer::instance();
    if (server == nullptr) GTEST_SKIP() << "PostgreSQL is not installed on this machine";
    url_ = fresh_postgres_schema(*server);
    store_ = open().value();
  }

  Result<std::unique_ptr<Database>> open() {
    PostgresOptions options;
    options.url = url_;
    return open_postgres(options);
  }
  std::string cell(std::string const& statement) {
    return postgres_rows(url_, statement).value().at(0).at(0);
  }

  // Waits until a session of the server is in this state.
  void wait_until_some(std::string const& state) {
    for (int i = 0; i < 500 && cell("SELECT count(*) FROM pg_stat_activity WHERE " + state) == "0"; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }

  std::string url_;
  std::unique_ptr<Database> store_;
};

TEST_F(PostgresStoreTest, DB_1_MigrationsAreAppliedOnceAndANewerDatabaseIsRefused) {
  auto const applied =
      cell("SELECT string_agg(feature || number || '@' || applied_at, ',') FROM schema_migrations");
  ASSERT_TRUE(open());
  EXPECT_EQ(cell("SELECT string_agg(feature || number || '@' || applied_at, ',') FROM schema_migrations"),
            applied);

  postgres_rows(url_, "INSERT INTO schema_migrations(feature, number) VALUES ('calendar', 1)").value();

  auto const refused = open();
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error().code, Errc::conflict);
}

TEST_F(PostgresStoreTest, DB_1_DatabaseFromBeforeTheFirstReleaseIsRefused) {
  url_ = fresh_postgres_schema(*PostgresServer::instance());
  postgres_rows(url_, "CREATE TABLE schema_migrations(version bigint PRIMARY KEY)").value();

  auto const refused = open();

  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_NE(refused.error().detail.find("before the first release"), std::string::npos)
      << refused.error().detail;
}

TEST_F(PostgresStoreTest, ServerThatIsNotThereIsUnavailable) {
  PostgresOptions options;
  options.url = "host=/nowhere/at/all user=runnel dbname=postgres";

  auto const refused = open_postgres(options);

  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error().code, Errc::unavailable);
}

TEST_F(PostgresStoreTest, DB_3_CutConnectionIsUnavailableAndTheNextCallConnectsAnew) {
  auto const run = run_async(store_->admit(admission("r1"))).value();
  auto const request = append_request(run.run, run.epoch, batch(3, 3));

  postgres_rows(url_,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                "AND backend_type = 'client backend'")
      .value();
  auto outcome = run_async(store_->append(request));
  for (int attempt = 0; !outcome && attempt < 20; ++attempt) {
    EXPECT_EQ(outcome.error().code, Errc::unavailable) << outcome.error().detail;
    outcome = run_async(store_->append(request));
  }

  EXPECT_TRUE(outcome.has_value());
  EXPECT_EQ(cell("SELECT count(*) FROM log"), "2");
}

TEST_F(PostgresStoreTest, TransactionThatTheServerUndidIsSentAgain) {
  postgres_rows(url_, "CREATE SEQUENCE tries").value();
  postgres_rows(url_,
                "CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                "IF nextval('tries') < 4 THEN RAISE EXCEPTION 'collided' USING ERRCODE = '40001'; END IF; "
                "RETURN NEW; END $$")
      .value();
  postgres_rows(url_,
                "CREATE TRIGGER trg_collide BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION collide()")
      .value();

  auto const admitted = run_async(store_->admit(admission("r1")));

  ASSERT_TRUE(admitted.has_value()) << admitted.error().detail;
  EXPECT_EQ(cell("SELECT count(*) FROM runs"), "1");
  EXPECT_EQ(cell("SELECT last_value FROM tries"), "4");
}

TEST_F(PostgresStoreTest, EndlessCollisionIsUnavailableInTheEnd) {
  postgres_rows(url_,
                "CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                "RAISE EXCEPTION 'collided' USING ERRCODE = '40P01'; END $$")
      .value();
  postgres_rows(url_,
                "CREATE TRIGGER trg_collide BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION collide()")
      .value();

  auto const refused = run_async(store_->admit(admission("r1")));

  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error().code, Errc::unavailable);
}

TEST_F(PostgresStoreTest, I8_AdmitsOfOneRunOnTwoNodesGiveOneRun) {
  auto const other = open().value();
  std::vector<Async<Admission>> work;
  for (int i = 0; i < 40; ++i) {
    // The same run on many threads at once: the hash is the same, so each admit either creates the run or
    // finds it.
    auto request = admission("r1", "t" + std::to_string(i / 4));
    work.push_back((i % 2 == 0 ? store_ : other)->admit(std::move(request)));
  }

  int fresh = 0;
  for (auto const& outcome : run_all_async(std::move(work))) {
    ASSERT_TRUE(outcome.has_value()) << outcome.error().detail;
    if (outcome->outcome == Admission::Outcome::running) ++fresh;
  }

  EXPECT_EQ(fresh, 1);
  EXPECT_EQ(cell("SELECT count(*) FROM runs"), "1");
  EXPECT_EQ(cell("SELECT count(*) FROM agent_chat_sessions"), "1");
}

TEST_F(PostgresStoreTest, RUN_3_RollbacksAndAppendsOfTwoNodesDoNotHoldEachOther) {
  auto const other = open().value();
  auto const run = run_async(store_->admit(admission("r0"))).value();
  for (std::uint64_t n = 3; n < 23; ++n) {
    auto const name = std::to_string(n);
    std::thread beside{
        [&] { EXPECT_TRUE(run_async(other->admit(admission("r" + name, OnBusy::rollback)))); }};
    auto const request = append_request(run.run, run.epoch, batch(n, n), {answer("m" + name)});
    EXPECT_TRUE(run_async(store_->append(request)));
    beside.join();
  }

  EXPECT_EQ(cell("SELECT count(*) FROM agent_chat_messages WHERE visibility_mask <> 0 AND run_id = " +
                 std::to_string(run.run.value)),
            "0");
}

TEST_F(PostgresStoreTest, AdmitThatWaitsForItsThreadHoldsNothingThatComesLater) {
  auto const old = run_async(store_->admit(admission("r1", "gone"))).value();
  run_async(store_->end(end_request(old.run, old.epoch, batch(3, 3)))).value();
  ASSERT_EQ(run_async(store_->delete_thread(kAnn, ThreadId{"gone"})).value(), DeleteOutcome::deleted);
  auto const other = run_async(store_->admit(admission("r2"))).value();
  run_async(store_->end(end_request(other.run, other.epoch, batch(3, 3)))).value();
  std::thread holder{[this] {
    postgres_rows(url_,
                  "BEGIN; SELECT id FROM agent_chat_sessions WHERE thread_ref = 't1' FOR UPDATE; "
                  "SELECT pg_sleep(1); COMMIT")
        .value();
  }};
  wait_until_some("wait_event = 'PgSleep'");

  // A run of a deleted thread has the same id; it gives the id up.
  std::thread admitting{[this] {
    EXPECT_EQ(run_async(store_->admit(admission("r1"))).value().outcome, Admission::Outcome::running);
  }};
  wait_until_some("wait_event_type = 'Lock'");
  auto const sum = postgres_rows(url_, "SELECT bytes FROM storage_totals FOR UPDATE NOWAIT");
  auto const run = postgres_rows(url_, "SELECT id FROM runs FOR UPDATE NOWAIT");
  holder.join();
  admitting.join();

  EXPECT_TRUE(sum) << sum.error().detail;
  EXPECT_TRUE(run) << run.error().detail;
}

TEST_F(PostgresStoreTest, USE_9_OpensOfTwoNodesNeverExceedTheBudgetTogether) {
  auto const other = open().value();
  std::vector<Admission> runs;
  for (int i = 0; i < 10; ++i) {
    auto const name = std::to_string(i);
    runs.push_back(run_async(store_->admit(admission("r" + name, "t" + name))).value());
  }
  std::vector<Async<void>> work;
  for (std::size_t i = 0; i < 100; ++i) {
    auto call = new_call("c" + std::to_string(i), runs[i % runs.size()], Money{7});
    call.budgets.day = Money{100};
    work.push_back((i % 2 == 0 ? store_ : other)->open_call(std::move(call)));
  }

  for (auto const& outcome : run_all_async(std::move(work))) {
    if (!outcome) {
      EXPECT_EQ(outcome.error().code, Errc::over_budget) << outcome.error().detail;
    }
  }

  EXPECT_EQ(cell("SELECT count(*) FROM model_calls"), "14");
}

TEST(PostgresErrors, SqlstatesAreToldApart) {
  EXPECT_EQ(postgres::to_errc("RN005"), Errc::over_budget);
  EXPECT_EQ(postgres::to_errc("RN006"), Errc::open_calls);
  EXPECT_EQ(postgres::to_errc("23505"), Errc::already_exists);
  EXPECT_EQ(postgres::to_errc("23514"), Errc::invalid);
  EXPECT_EQ(postgres::to_errc("53100"), Errc::unavailable);
  EXPECT_EQ(postgres::to_errc("57P01"), Errc::unavailable);
  EXPECT_EQ(postgres::to_errc(""), Errc::unavailable);
  EXPECT_EQ(postgres::to_errc("42601"), Errc::internal);
}

}  // namespace
}  // namespace runnel::store
