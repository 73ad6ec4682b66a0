#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/store/store.h"
#include "tests/support/run_async.h"

// The promises of store.h are tested once, over every engine. This is what those tests share.
namespace runnel::store {

using SqlRows = std::vector<std::vector<std::string>>;  // Null: "null".

class StoreUnderTest {
 public:
  StoreUnderTest() = default;
  StoreUnderTest(StoreUnderTest const&) = delete;
  StoreUnderTest& operator=(StoreUnderTest const&) = delete;
  virtual ~StoreUnderTest() = default;

  virtual Store& store() = 0;

  // A statement beside the store, on a connection of its own.
  virtual Result<SqlRows> sql(std::string const& statement) = 0;
};

struct Engine {
  std::string name;
  // An empty store; null: the engine is not on this machine.
  std::function<std::unique_ptr<StoreUnderTest>()> make;

  friend std::ostream& operator<<(std::ostream& out, Engine const& engine) { return out << engine.name; }
};

Engine sqlite_engine();
Engine postgres_engine();

inline constexpr std::int64_t kNow = 1'700'000'000'000;
inline UserId const kAnn{"ann"};
inline UserId const kBob{"bob"};
inline ThreadId const kThread{"t1"};

// --- Requests, with what a test does not care about filled in ---

LogBatch batch(std::uint64_t first_n, std::uint64_t last_n, std::string body = {});
NewMessage message(std::string id, Role role, std::string_view type);
NewMessage answer(std::string id);
NewMessage audit(std::string id);
Begin begin(std::string message_id, std::string title = "title");
AdmitRequest admission(std::string run, std::string thread = "t1", std::string owner = "ann");
AdmitRequest admission(std::string run, OnBusy policy);
AppendRequest append_request(RunKey run, Epoch epoch, LogBatch facts, std::vector<NewMessage> messages = {});
EndRequest end_request(RunKey run, Epoch epoch, LogBatch facts, RunStatus status = RunStatus::completed);

class StoreContract : public testing::TestWithParam<Engine> {
 protected:
  void SetUp() override;

  Store& store() { return under_test_->store(); }

  // Outcomes that the test takes for granted: a failure throws.
  Admission admit(AdmitRequest request) { return run_async(store().admit(std::move(request))).value(); }
  Claim claim(RunKey run, std::int64_t now = kNow);
  Ended end(RunKey run, Epoch epoch, LogBatch facts, RunStatus status = RunStatus::completed);
  RunRow row(RunKey run) { return run_async(store().run_by_key(run)).value().value(); }
  RunStatus status(RunKey run) { return row(run).status; }

  // What the call was refused for; `internal` with a failed expectation where it was not.
  template <class T>
  static Errc refusal(Result<T> const& outcome) {
    EXPECT_TRUE(outcome.has_error());
    return outcome.has_error() ? outcome.error().code : Errc::internal;
  }

  SqlRows sql(std::string const& statement) { return under_test_->sql(statement).value(); }
  bool sql_refused(std::string const& statement) { return under_test_->sql(statement).has_error(); }
  std::string cell(std::string const& statement) { return sql(statement).at(0).at(0); }
  std::string sql_error(std::string const& statement);
  // All that is to be deleted, to the end.
  void purge_all();
  // "role:seq:mask" of the thread's rows, in the order they were written.
  std::vector<std::string> message_rows(std::string const& thread = "t1");
  std::string thread_column(std::string const& column, std::string const& thread = "t1");

 private:
  std::unique_ptr<StoreUnderTest> under_test_;
};

// Of a database that an older version wrote, with ann's running run r1 on t1: what newer ones promise holds
// for it.
void expect_old_run_counts_and_has_tickets(Store& store);
void expect_old_run_has_a_ledger(Store& store);
void expect_old_rows_are_ready_for_flows(Store& store);

// Of ann's, in the tables of a version that kept no sums: an ended run with all that it stores, a call of a
// thread that is gone, one that has ended and one that is open. `unit` is a pico as the engine has it.
std::vector<std::string> old_rows(std::string const& unit);
void expect_old_rows_are_summed(Store& store);

inline std::string engine_name(testing::TestParamInfo<Engine> const& info) {
  return info.param.name;
}

}  // namespace runnel::store
