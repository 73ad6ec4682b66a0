#include "runnel/store/sql.h"

#include "runnel/store/testing/store_contract.h"

namespace runnel::store {
namespace {

constexpr Migration kNotes{
    "notes", 1,
    "CREATE TABLE notes(id TEXT NOT NULL PRIMARY KEY, stars INTEGER NOT NULL CHECK (stars >= 0), body TEXT)",
    "CREATE TABLE notes(id text COLLATE \"C\" PRIMARY KEY, stars bigint NOT NULL CHECK (stars >= 0), body "
    "jsonb)"};

constexpr std::string_view kInsert = "INSERT INTO notes(id, stars, body) VALUES ($1, $2, $3)";
constexpr std::string_view kAddStars = "UPDATE notes SET stars = stars + $2 WHERE id = $1";
constexpr std::string_view kSelect = "SELECT id, stars, body FROM notes WHERE stars >= $1 ORDER BY id";

SqlStatement insert_note(std::string id, std::int64_t stars, SqlValue body = {}) {
  return {kInsert, {std::move(id), stars, std::move(body)}};
}

SqlStatement add_stars(std::string id, std::int64_t stars) {
  return {kAddStars, {std::move(id), stars}, 1};
}

class StoreSql : public StoreContract {
 protected:
  [[nodiscard]] std::vector<Migration> module_migrations() const override { return {kNotes}; }

  Result<std::vector<SqlResult>> write(std::vector<SqlStatement> statements) {
    return run_async(store().write(std::move(statements)));
  }
  SqlResult notes() { return run_async(store().read({kSelect, {std::int64_t{0}}})).value(); }
};

TEST_P(StoreSql, WhatIsWrittenIsReadInItsOwnKind) {
  ASSERT_TRUE(write({insert_note("a", 3, "{\"x\": 1}"), insert_note("b", 0)}));

  auto const found = notes();

  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.text(0, 0), "a");
  EXPECT_EQ(found.integer(0, 1), 3);
  EXPECT_EQ(found.text(0, 2), "{\"x\": 1}");
  EXPECT_TRUE(found.is_null(1, 2));
  EXPECT_EQ(found.text(1, 2), "");
}

TEST_P(StoreSql, ParametersAreFoundByTheirNumberWhereverTheyStand) {
  ASSERT_TRUE(write({insert_note("a", 3)}));

  auto const found = run_async(store().read(
      {"SELECT stars + $2, id FROM notes WHERE id = $1 AND stars < $2", {"a", std::int64_t{4}}}));

  ASSERT_EQ(found.value().size(), 1u);
  EXPECT_EQ(found.value().integer(0, 0), 7);
}

TEST_P(StoreSql, StatementsAreOneTransaction) {
  auto const refused = write({insert_note("a", 3), insert_note("b", -1)});

  EXPECT_EQ(refusal(refused), Errc::invalid);
  EXPECT_TRUE(notes().empty());
}

TEST_P(StoreSql, WhatEachStatementReturnsComesBack) {
  auto const results = write({insert_note("a", 3),
                              {"UPDATE notes SET stars = stars + $1 RETURNING id, stars", {std::int64_t{2}}},
                              {"DELETE FROM notes WHERE id = $1 RETURNING id", {"nobody"}}});

  ASSERT_TRUE(results) << results.error().detail;
  ASSERT_EQ(results->size(), 3u);
  EXPECT_TRUE(results->at(0).empty());
  EXPECT_EQ(results->at(1).integer(0, 1), 5);
  EXPECT_TRUE(results->at(2).empty());
}

TEST_P(StoreSql, StatementThatTouchesAnotherNumberOfRowsThanItMustUndoesAll) {
  ASSERT_TRUE(write({insert_note("a", 3)}));

  auto const refused = write({insert_note("b", 1), add_stars("nobody", 1)});
  auto const done = write({insert_note("c", 1), add_stars("a", 1)});

  EXPECT_EQ(refusal(refused), Errc::conflict);
  EXPECT_TRUE(done);
  auto const found = notes();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.integer(0, 1), 4);
  EXPECT_EQ(found.text(1, 0), "c");
}

TEST_P(StoreSql, SecondRowOfOneKeyIsNamedAsSuch) {
  ASSERT_TRUE(write({insert_note("a", 3)}));

  EXPECT_EQ(refusal(write({insert_note("a", 4)})), Errc::already_exists);
}

TEST_P(StoreSql, ValueThatNoEngineCanHoldIsRefused) {
  EXPECT_EQ(refusal(write({insert_note(std::string{"a\0b", 3}, 1)})), Errc::invalid);
  EXPECT_TRUE(notes().empty());
}

TEST_P(StoreSql, WriteThatFailedInItsFirstStatementSucceedsWhenItIsSentAgain) {
  ASSERT_TRUE(write({insert_note("a", 3)}));
  SqlStatement const last{"UPDATE notes SET stars = 9 WHERE id = $1 RETURNING stars", {"a"}};

  for (int i = 0; i < 8; ++i)  // Often enough for every connection.
    EXPECT_EQ(refusal(write({add_stars("nobody", 1), last})), Errc::conflict);

  for (int i = 0; i < 8; ++i) {
    auto const done = write({add_stars("a", 1), last});
    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_TRUE(done->at(0).empty());
    EXPECT_EQ(done->at(1).integer(0, 0), 9);
  }
}

TEST_P(StoreSql, WriteOfNothingIsRefused) {
  EXPECT_EQ(refusal(write({})), Errc::invalid);
}

TEST_P(StoreSql, WritesInTheBackgroundKeepToTheirNumberOfRows) {
  EXPECT_EQ(refusal(run_async(store().write_in_background(add_stars("nobody", 1)))), Errc::conflict);
}

TEST_P(StoreSql, WritesInTheBackgroundAreDurableToo) {
  auto const results = run_async(store().write_in_background(insert_note("a", 3)));

  EXPECT_TRUE(results);
  EXPECT_EQ(notes().size(), 1u);
}

TEST_P(StoreSql, WritesOfModulesAndRunsStandBesideEachOther) {
  auto const run = admit(admission("r1"));

  ASSERT_TRUE(
      write({{"INSERT INTO notes(id, stars) SELECT run_ref, id FROM runs WHERE owner_id = $1", {"ann"}, 1}}));

  EXPECT_EQ(notes().integer(0, 1), run.run.value);
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreSql, testing::Values(sqlite_engine(), postgres_engine()), engine_name);

}  // namespace
}  // namespace runnel::store
