#include "runnel/app/user_profiles.h"

#include <gtest/gtest.h>

#include "runnel/core/profile.h"
#include "runnel/modules/profile/module.h"
#include "runnel/store/sqlite/store.h"
#include "runnel/store/testing/sqlite_under_test.h"
#include "tests/support/run_async.h"

namespace runnel::app {
namespace {

class UserProfilesTest : public testing::Test {
 protected:
  std::unique_ptr<store::Database> open() {
    store::SqliteOptions options;
    options.path = folder.file("runnel.db");
    options.module_migrations = modules::profile::define(modules::profile::Upgrade::on_write).migrations;
    return std::move(store::open_sqlite(std::move(options)).value());
  }
  void put(std::string user, modules::profile::Row row) {
    run_async(modules::profile::Repository{*database}.put(UserId{std::move(user)}, std::move(row))).value();
  }
  runtime::FrozenProfile freeze(std::string user) {
    return run_async(profiles.freeze(UserId{std::move(user)})).value();
  }

  store::TemporaryFolder folder;
  std::unique_ptr<store::Database> database = open();
  StoredProfiles profiles{*database};
};

TEST_F(UserProfilesTest, FLOW_6_RunGetsTheProfileOfItsOwner) {
  modules::profile::Row row;
  row.username = "Ann \"A\"";
  row.bio = "likes\n茶";
  row.settings = R"({"version":2,"preferences":{"timezone":"Europe/Berlin","country":"DE"}})";
  row.country = "DE";
  put("ann", row);
  row.username = "Bob";
  put("bob", row);

  auto const frozen = freeze("ann");

  EXPECT_EQ(frozen.country, "DE");
  auto const reading = read_stored_profile(frozen.document);
  EXPECT_TRUE(reading.problems.empty());
  EXPECT_EQ(reading.profile.username, "Ann \"A\"");
  EXPECT_EQ(reading.profile.bio, "likes\n茶");
  EXPECT_EQ(reading.profile.settings.preferences.timezone, "Europe/Berlin");
}

TEST_F(UserProfilesTest, FLOW_6_SettingsThatAreAllDefaultsAreNull) {
  put("ann", {});

  EXPECT_EQ(freeze("ann").document, R"({"username":"","bio":"","settings":null})");
  EXPECT_EQ(freeze("ann").country, "");
}

TEST_F(UserProfilesTest, FLOW_6_UserWithoutAProfileHasNone) {
  EXPECT_EQ(freeze("ann").document, "");
  EXPECT_EQ(freeze("ann").country, "");
}

}  // namespace
}  // namespace runnel::app
