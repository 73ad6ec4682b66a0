#include "runnel/modules/profile/repository.h"

#include <boost/json/value.hpp>

#include <optional>
#include <variant>

#include "runnel/core/json/parse.h"
#include "runnel/core/profile.h"
#include "runnel/modules/profile/module.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::modules::profile {
namespace {

using namespace store;

constexpr char kSettings[] =
    R"({"version":2,"preferences":{"interface_language":"de","country":"DE"},"privacy":{},)"
    R"("notification":{"mail":[1,2.5,null,true]},"safety":{"note":"ü\u2028"}})";

Row profile_row(std::string username, std::string country = "DE") {
  Row profile;
  profile.username = std::move(username);
  profile.bio = "likes \"quotes\"\nand 茶";
  profile.settings = kSettings;
  profile.country = std::move(country);
  profile.updated_at = kNow;
  return profile;
}

// Documents are compared, not texts, because each engine has its own order of keys and its own spaces.
boost::json::value document(std::string const& text) {
  return std::get<boost::json::value>(parse_json(text));
}

class ProfileRows : public StoreContract {
 protected:
  [[nodiscard]] std::vector<Migration> module_migrations() const override {
    return define(Upgrade::on_write).migrations;
  }

  Repository& rows() {
    if (!rows_) rows_.emplace(store());
    return *rows_;
  }
  void put(UserId const& user, Row row) { ASSERT_TRUE(run_async(rows().put(user, std::move(row)))); }
  std::optional<Row> stored(UserId const& user) { return run_async(rows().find(user)).value(); }

 private:
  std::optional<Repository> rows_;
};

TEST_P(ProfileRows, FLOW_5_ProfileComesBackAsItWasPut) {
  put(kAnn, profile_row("Ann"));

  auto const found = stored(kAnn).value();

  EXPECT_EQ(found.username, "Ann");
  EXPECT_EQ(found.bio, "likes \"quotes\"\nand 茶");
  EXPECT_EQ(document(found.settings.value()), document(kSettings));
  EXPECT_EQ(found.country, "DE");
  EXPECT_EQ(found.updated_at, kNow);
}

TEST_P(ProfileRows, FLOW_5_UserWithoutAProfileHasNone) {
  ASSERT_TRUE(run_async(store().ensure_user(kAnn, kNow)));

  EXPECT_FALSE(stored(kAnn).has_value());
}

TEST_P(ProfileRows, FLOW_5_ProfileIsReplacedAsAWhole) {
  put(kAnn, profile_row("Ann"));
  Row bare;
  bare.updated_at = kNow + 1;

  put(kAnn, bare);

  auto const found = stored(kAnn).value();
  EXPECT_EQ(found.username, "");
  EXPECT_EQ(found.bio, "");
  EXPECT_FALSE(found.settings.has_value());
  EXPECT_EQ(found.country, "");
  EXPECT_EQ(found.updated_at, kNow + 1);
  EXPECT_EQ(sql("SELECT settings, country FROM profiles"), (TextRows{{"null", "null"}}));
}

TEST_P(ProfileRows, FLOW_5_WhoStoresAProfileIsAUser) {
  put(kAnn, profile_row("Ann"));
  put(kAnn, profile_row("Anna"));

  EXPECT_EQ(sql("SELECT id FROM users"), (TextRows{{"ann"}}));
}

TEST_P(ProfileRows, FLOW_5_WhatNoEngineCanHoldIsRefused) {
  put(kAnn, profile_row("Ann"));
  std::vector<Row> bad(6, profile_row("Other"));
  bad[0].username = std::string{"a\0b", 3};
  bad[1].bio = std::string{"a\0b", 3};
  bad[2].country = "DEU";
  bad[3].settings = "[]";
  bad[4].settings = "{";
  bad[5].settings = R"({"privacy":{"a":"\u0000"}})";

  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_EQ(refusal(run_async(rows().put(kAnn, bad[i]))), Errc::invalid) << i;
  }

  EXPECT_EQ(stored(kAnn).value().username, "Ann");
}

TEST_P(ProfileRows, HTTP_3_AnothersProfileIsNeverRead) {
  put(kBob, profile_row("Bob"));

  EXPECT_FALSE(stored(kAnn).has_value());
}

TEST_P(ProfileRows, DB_2_ProfileHoldsAnObjectAndTwoLettersOfAKnownUser) {
  put(kAnn, profile_row("Ann"));

  EXPECT_TRUE(sql_refused("UPDATE profiles SET settings = '[]'"));
  EXPECT_TRUE(sql_refused("UPDATE profiles SET settings = '{'"));
  EXPECT_TRUE(sql_refused("UPDATE profiles SET country = 'DEU'"));
  EXPECT_TRUE(
      sql_refused("INSERT INTO profiles(user_id, username, bio, updated_at) VALUES ('eve', '', '', 1)"));
  EXPECT_FALSE(sql_refused("UPDATE profiles SET settings = NULL, country = NULL"));
}

// Admits a run of the user, and returns the profile that was frozen with it.
class FrozenProfile : public ProfileRows {
 protected:
  std::string freeze(UserId const& user) {
    auto request = admission("r-" + user.text, "t-" + user.text, user.text);
    request.profile_query = kFrozenProfile;
    auto const admitted = admit(request);
    EXPECT_EQ(row(admitted.run).profile, admitted.profile);
    return admitted.profile;
  }
  TextRows countries() {
    return sql("SELECT billing_country_snapshot FROM agent_chat_sessions ORDER BY thread_ref");
  }
};

TEST_P(FrozenProfile, FLOW_6_RunGetsTheProfileOfItsOwner) {
  put(kAnn, profile_row("Ann \"A\" \\"));
  put(kBob, profile_row("Bob", "US"));

  auto const reading = read_stored_profile(freeze(kAnn));

  EXPECT_TRUE(reading.problems.empty());
  EXPECT_EQ(reading.profile.username, "Ann \"A\" \\");
  EXPECT_EQ(reading.profile.bio, "likes \"quotes\"\nand 茶");
  EXPECT_EQ(reading.profile.settings.preferences.interface_language, "de");
  EXPECT_EQ(countries(), (TextRows{{"DE"}}));
}

TEST_P(FrozenProfile, FLOW_6_SettingsThatAreAllDefaultsAreNull) {
  Row bare;
  bare.updated_at = kNow;
  put(kAnn, bare);

  EXPECT_EQ(freeze(kAnn), R"({"username":"","bio":"","settings":null})");
  EXPECT_EQ(countries(), (TextRows{{"CN"}}));
}

TEST_P(FrozenProfile, FLOW_6_UserWithoutAProfileHasNone) {
  put(kBob, profile_row("Bob", "US"));

  EXPECT_EQ(freeze(kAnn), "");
  EXPECT_EQ(countries(), (TextRows{{"CN"}}));
}

INSTANTIATE_TEST_SUITE_P(Engines, FrozenProfile, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Engines, ProfileRows, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::modules::profile
