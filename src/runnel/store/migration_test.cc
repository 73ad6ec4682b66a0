#include "runnel/store/migration.h"

#include <gtest/gtest.h>

namespace runnel::store {
namespace {

std::vector<Migration> const kKnown{{"runs", 1, "", ""}, {"runs", 2, "", ""}, {"notes", 1, "", ""}};

TEST(Migrations, DB_1_WhatADatabaseLacksIsGivenInOrder) {
  auto const missing = missing_migrations(kKnown, {{"runs", 1}}).value();

  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0].feature, "runs");
  EXPECT_EQ(missing[0].number, 2);
  EXPECT_EQ(missing[1].feature, "notes");
}

TEST(Migrations, DB_1_StepThatIsNotKnownNamesItselfAndTheReason) {
  for (auto const& applied : {AppliedMigrations{{"runs", 3}}, AppliedMigrations{{"calendar", 1}}}) {
    auto const missing = missing_migrations(kKnown, applied);

    ASSERT_TRUE(missing.has_error());
    EXPECT_EQ(missing.error().code, Errc::conflict);
    EXPECT_NE(missing.error().detail.find(applied.begin()->first), std::string::npos);
    EXPECT_NE(missing.error().detail.find("newer"), std::string::npos);
  }
}

TEST(Migrations, TablesOfRunsComeBeforeThoseOfModules) {
  auto const all = all_migrations({kKnown.back()});

  EXPECT_EQ(all.front().feature, "runs");
  EXPECT_EQ(all.back().feature, "notes");
}

}  // namespace
}  // namespace runnel::store
