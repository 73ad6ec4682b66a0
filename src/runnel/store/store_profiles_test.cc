#include <boost/json/value.hpp>

#include <variant>

#include "runnel/core/json_parse.h"
#include "runnel/store/store_contract.h"

namespace runnel::store {
namespace {

constexpr char kSettings[] =
    R"({"version":2,"preferences":{"interface_language":"de","country":"DE"},"privacy":{},)"
    R"("notification":{"mail":[1,2.5,null,true]},"safety":{"note":"ü\u2028"}})";

ProfileRow profile_row(std::string username, std::string country = "DE") {
  ProfileRow profile;
  profile.username = std::move(username);
  profile.bio = "likes \"quotes\"\nand 茶";
  profile.settings = kSettings;
  profile.country = std::move(country);
  profile.updated_at = kNow;
  return profile;
}

// Equal where the documents are: the order of keys and the spaces are an engine's own.
boost::json::value document(std::string const& text) {
  return std::get<boost::json::value>(parse_json(text));
}

class StoreProfiles : public StoreContract {
 protected:
  void put(UserId const& user, ProfileRow profile) {
    ASSERT_TRUE(run_async(store().ensure_user(user, kNow)));
    ASSERT_TRUE(run_async(store().put_profile(user, std::move(profile))));
  }
  std::optional<ProfileRow> stored(UserId const& user) { return run_async(store().profile(user)).value(); }
  std::string frozen_username(RunKey run) {
    auto const profile = document(row(run).profile);
    return std::string{profile.at("username").as_string()};
  }
};

TEST_P(StoreProfiles, FLOW_5_ProfileComesBackAsItWasPut) {
  put(kAnn, profile_row("Ann"));

  auto const found = stored(kAnn).value();

  EXPECT_EQ(found.username, "Ann");
  EXPECT_EQ(found.bio, "likes \"quotes\"\nand 茶");
  EXPECT_EQ(document(found.settings.value()), document(kSettings));
  EXPECT_EQ(found.country, "DE");
  EXPECT_EQ(found.updated_at, kNow);
}

TEST_P(StoreProfiles, FLOW_5_UserWithoutAProfileHasNone) {
  ASSERT_TRUE(run_async(store().ensure_user(kAnn, kNow)));

  EXPECT_FALSE(stored(kAnn).has_value());
}

TEST_P(StoreProfiles, FLOW_5_ProfileIsReplacedAsAWhole) {
  put(kAnn, profile_row("Ann"));
  ProfileRow bare;
  bare.updated_at = kNow + 1;

  put(kAnn, bare);

  auto const found = stored(kAnn).value();
  EXPECT_EQ(found.username, "");
  EXPECT_EQ(found.bio, "");
  EXPECT_FALSE(found.settings.has_value());
  EXPECT_EQ(found.country, "");
  EXPECT_EQ(found.updated_at, kNow + 1);
  EXPECT_EQ(sql("SELECT settings, country FROM profiles"), (SqlRows{{"null", "null"}}));
}

TEST_P(StoreProfiles, FLOW_5_ProfileNeedsItsUser) {
  EXPECT_EQ(refusal(run_async(store().put_profile(kAnn, profile_row("Ann")))), Errc::not_found);

  EXPECT_FALSE(stored(kAnn).has_value());
}

TEST_P(StoreProfiles, FLOW_5_WhatNoEngineCanHoldIsRefused) {
  put(kAnn, profile_row("Ann"));
  std::vector<ProfileRow> bad(6, profile_row("Other"));
  bad[0].username = std::string{"a\0b", 3};
  bad[1].bio = std::string{"a\0b", 3};
  bad[2].country = "DEU";
  bad[3].settings = "[]";
  bad[4].settings = "{";
  bad[5].settings = R"({"privacy":{"a":"\u0000"}})";

  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_EQ(refusal(run_async(store().put_profile(kAnn, bad[i]))), Errc::invalid) << i;
  }

  EXPECT_EQ(stored(kAnn).value().username, "Ann");
}

TEST_P(StoreProfiles, FLOW_6_RunKeepsTheProfileOfItsOwner) {
  put(kAnn, profile_row("Ann"));

  auto const admitted = admit(admission("r1"));

  auto const profile = document(admitted.profile);
  EXPECT_EQ(profile.as_object().size(), 3u);
  EXPECT_EQ(profile.at("username"), "Ann");
  EXPECT_EQ(profile.at("bio"), "likes \"quotes\"\nand 茶");
  EXPECT_EQ(profile.at("settings"), document(kSettings));
  EXPECT_EQ(row(admitted.run).profile, admitted.profile);
  EXPECT_EQ(run_async(store().find_run(kAnn, kThread, RunId{"r1"})).value().value().profile,
            admitted.profile);
}

TEST_P(StoreProfiles, FLOW_6_SettingsThatAreAllDefaultsAreNull) {
  auto profile = profile_row("Ann");
  profile.settings.reset();
  put(kAnn, profile);

  EXPECT_TRUE(document(admit(admission("r1")).profile).at("settings").is_null());
}

TEST_P(StoreProfiles, FLOW_6_RunOfAnOwnerWithoutAProfileHasNone) {
  auto const admitted = admit(admission("r1"));

  EXPECT_EQ(admitted.profile, "");
  EXPECT_EQ(row(admitted.run).profile, "");
  EXPECT_EQ(sql("SELECT profile FROM runs"), (SqlRows{{"null"}}));
}

TEST_P(StoreProfiles, FLOW_6_AnothersProfileIsNeverRead) {
  put(kBob, profile_row("Bob"));

  auto const anns = admit(admission("r1"));

  EXPECT_FALSE(stored(kAnn).has_value());
  EXPECT_EQ(anns.profile, "");
  EXPECT_EQ(row(anns.run).profile, "");
  EXPECT_EQ(thread_column("billing_country_snapshot"), "CN");
}

TEST_P(StoreProfiles, FLOW_6_EachRunHasItsOwnOwnersProfile) {
  put(kAnn, profile_row("Ann"));
  put(kBob, profile_row("Bob"));

  auto const anns = admit(admission("r1", "t1", "ann"));
  auto const bobs = admit(admission("r1", "t1", "bob"));

  EXPECT_EQ(frozen_username(anns.run), "Ann");
  EXPECT_EQ(frozen_username(bobs.run), "Bob");
}

TEST_P(StoreProfiles, USE_7_NewThreadTakesTheCountryOfItsOwnersProfile) {
  put(kAnn, profile_row("Ann", "DE"));

  admit(admission("r1"));

  EXPECT_EQ(thread_column("billing_country_snapshot"), "DE");
}

TEST_P(StoreProfiles, USE_7_ProfileWithoutACountryLeavesTheDefault) {
  put(kAnn, profile_row("Ann", ""));
  auto nowhere = admission("r2", "t2");
  nowhere.default_country = "";

  admit(admission("r1"));
  admit(nowhere);

  EXPECT_EQ(thread_column("billing_country_snapshot"), "CN");
  EXPECT_EQ(thread_column("billing_country_snapshot", "t2"), "null");
}

TEST_P(StoreProfiles, USE_7_LaterProfileChangesNeitherTheThreadsCountryNorTheRunsProfile) {
  put(kAnn, profile_row("Ann", "DE"));
  auto const first = admit(admission("r1"));

  put(kAnn, profile_row("Anna", "FR"));
  auto const again = admit(admission("r1"));
  end(first.run, first.epoch, batch(3, 3));
  auto const second = admit(admission("r2"));

  EXPECT_EQ(again.outcome, Admission::Outcome::existing);
  EXPECT_EQ(row(first.run).profile, first.profile);
  EXPECT_EQ(frozen_username(second.run), "Anna");
  EXPECT_EQ(thread_column("billing_country_snapshot"), "DE");
}

TEST_P(StoreProfiles, FLOW_6_QueuedRunKeepsTheProfileOfItsAdmission) {
  put(kAnn, profile_row("Ann"));
  auto const first = admit(admission("r1"));
  auto const queued = admit(admission("r2", OnBusy::enqueue));

  put(kAnn, profile_row("Anna"));
  end(first.run, first.epoch, batch(3, 3));
  claim(queued.run);

  EXPECT_EQ(document(queued.profile).at("username"), "Ann");
  EXPECT_EQ(row(queued.run).profile, queued.profile);
}

TEST_P(StoreProfiles, DB_2_ProfileHoldsAnObjectAndTwoLettersOfAKnownUser) {
  put(kAnn, profile_row("Ann"));

  EXPECT_TRUE(sql_refused("UPDATE profiles SET settings = '[]'"));
  EXPECT_TRUE(sql_refused("UPDATE profiles SET settings = '{'"));
  EXPECT_TRUE(sql_refused("UPDATE profiles SET country = 'DEU'"));
  EXPECT_TRUE(
      sql_refused("INSERT INTO profiles(user_id, username, bio, updated_at) VALUES ('eve', '', '', 1)"));
  EXPECT_FALSE(sql_refused("UPDATE profiles SET settings = NULL, country = NULL"));
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreProfiles, testing::Values(sqlite_engine(), postgres_engine()),
                         engine_name);

}  // namespace
}  // namespace runnel::store
