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
#include "runnel/store/database.h"
#include "runnel/store/migration.h"
#include "tests/support/run_async.h"

// The promises of store.h are tested with the same tests on every engine. This file has what those tests
// share.
namespace runnel::store {

using TextRows = std::vector<std::vector<std::string>>;  // NULL is "null".

class StoreUnderTest {
 public:
  StoreUnderTest() = default;
  StoreUnderTest(StoreUnderTest const&) = delete;
  StoreUnderTest& operator=(StoreUnderTest const&) = delete;
  virtual ~StoreUnderTest() = default;

  virtual Database& store() = 0;

  // Runs a statement without the store, on a connection of its own.
  virtual Result<TextRows> sql(std::string const& statement) = 0;
};

struct Engine {
  std::string name;
  // Makes an empty store that also has the tables of `of_modules`. Null if the engine is not installed on
  // this machine.
  std::function<std::unique_ptr<StoreUnderTest>(std::vector<Migration> const& of_modules)> make;

  friend std::ostream& operator<<(std::ostream& out, Engine const& engine) { return out << engine.name; }
};

Engine sqlite_engine();
Engine postgres_engine();

inline constexpr std::int64_t kNow = 1'700'000'000'000;
inline UserId const kAnn{"ann"};
inline UserId const kBob{"bob"};
inline ThreadId const kThread{"t1"};

// --- Requests, with default values for what a test does not care about ---

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

  // The migrations of the module whose tables the test needs.
  [[nodiscard]] virtual std::vector<Migration> module_migrations() const { return {}; }

  Database& store() { return under_test_->store(); }
  // For a test that has contexts of its own: the store's threads may touch them until it is closed.
  void close_store() { under_test_.reset(); }

  // Calls that must succeed: a failure throws.
  Admission admit(AdmitRequest request) { return run_async(store().admit(std::move(request))).value(); }
  Claim claim(RunKey run, std::int64_t now = kNow);
  Ended end(RunKey run, Epoch epoch, LogBatch facts, RunStatus status = RunStatus::completed);
  RunRow row(RunKey run) { return run_async(store().run_by_key(run)).value().value(); }
  RunStatus status(RunKey run) { return row(run).status; }

  // The code with which the call was refused. If it was not refused, an expectation fails and the code is
  // `internal`.
  template <class T>
  static Errc refusal(Result<T> const& outcome) {
    EXPECT_TRUE(outcome.has_error());
    return outcome.has_error() ? outcome.error().code : Errc::internal;
  }

  TextRows sql(std::string const& statement) { return under_test_->sql(statement).value(); }
  bool sql_refused(std::string const& statement) { return under_test_->sql(statement).has_error(); }
  std::string cell(std::string const& statement) { return sql(statement).at(0).at(0); }
  std::string sql_error(std::string const& statement);
  // Purges until nothing is left to delete.
  void purge_all();
  // "role:seq:mask" of the thread's rows, in the order in which they were written.
  std::vector<std::string> message_rows(std::string const& thread = "t1");
  std::string thread_column(std::string const& column, std::string const& thread = "t1");

 private:
  std::unique_ptr<StoreUnderTest> under_test_;
};

inline std::string engine_name(testing::TestParamInfo<Engine> const& info) {
  return info.param.name;
}

}  // namespace runnel::store
