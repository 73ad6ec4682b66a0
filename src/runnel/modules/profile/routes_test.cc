#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "runnel/base/schema/json_schema.h"
#include "runnel/core/profile.h"
#include "runnel/modules/profile/module.h"
#include "runnel/modules/profile/repository.h"
#include "runnel/modules/testing/module_under_test.h"
#include "tests/support/run_async.h"

namespace runnel::modules::profile {
namespace {

constexpr char kPreferences[] =
    R"({"interface_language":"en-GB","ai_language":"de","timezone":"Europe/Berlin","country":"DE"})";
constexpr char kDefaults[] =
    R"({"interface_language":"zh-CN","ai_language":"zh-CN","timezone":"Asia/Shanghai","country":"CN"})";

std::string settings(std::string const& version, std::string const& preferences) {
  return R"({"version":)" + version + R"(,"preferences":)" + preferences +
         R"(,"privacy":{},"notification":{})" + (version == "1" ? "}" : R"(,"safety":{}})");
}

std::string profile(std::string const& username, std::string const& bio, std::string const& settings) {
  return R"({"username":")" + username + R"(","bio":")" + bio + R"(","settings":)" + settings + "}";
}

class ProfileRoute : public testing::Test {
 protected:
  explicit ProfileRoute(Upgrade upgrade = Upgrade::on_write) : under_test{define(upgrade)} {}

  api::Response ask(api::Method method, std::string body, std::string user) {
    return under_test.ask(method, "/api/v1/profile", std::move(body), std::move(user));
  }
  api::Response get(std::string user = "ann") { return ask(api::Method::get, "", std::move(user)); }
  api::Response put(std::string body, std::string user = "ann") {
    return ask(api::Method::put, std::move(body), std::move(user));
  }

  // The violations that the refusal of a body names, each as "PATH: problem".
  std::vector<std::string> violations(std::string body) {
    auto const response = put(std::move(body));
    EXPECT_EQ(response.status, 400) << response.body;
    auto const error = boost::json::parse(response.body).at("error");
    EXPECT_EQ(error.at("code"), "INVALID_REQUEST");
    std::vector<std::string> out;
    for (auto const& violation : error.at("details").at("violations").as_array()) {
      out.push_back(std::string{violation.at("path").as_string()} + ": " +
                    std::string{violation.at("problem").as_string()});
    }
    return out;
  }

  std::optional<Row> row(std::string user) { return run_async(rows.find(UserId{std::move(user)})).value(); }

  ModuleUnderTest under_test;
  base::ChosenClock& clock = under_test.clock();
  Repository rows{under_test.database()};
};

class DeferredProfileRoute : public ProfileRoute {
 protected:
  DeferredProfileRoute() : ProfileRoute{Upgrade::deferred} {}
};

using Named = std::vector<std::string>;

TEST_F(ProfileRoute, FLOW_5_DefaultsWhereNoneIsStored) {
  auto const response = get();

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, profile("", "", settings("2", kDefaults)));
}

TEST_F(ProfileRoute, FLOW_5_IsReplacedAsAWhole) {
  auto const sent = profile("Ann", "Likes tea.", settings("2", kPreferences));

  auto const first = put(sent);
  auto const shown = get();
  auto const second = put(R"({"username":"Ann"})");

  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, sent);
  EXPECT_EQ(shown.body, sent);
  EXPECT_EQ(second.body, profile("Ann", "", settings("2", kDefaults)));
  EXPECT_EQ(get().body, second.body);
}

TEST_F(ProfileRoute, FLOW_5_TheRowHasTheCountryForNewThreads) {
  put(profile("Ann", "Likes tea.", settings("2", kPreferences)));

  auto const stored = row("ann").value();
  EXPECT_EQ(stored.username, "Ann");
  EXPECT_EQ(stored.bio, "Likes tea.");
  EXPECT_EQ(stored.settings, settings("2", kPreferences));
  EXPECT_EQ(stored.country, "DE");
  EXPECT_EQ(stored.updated_at, clock.now);
}

TEST_F(ProfileRoute, HTTP_3_OthersHaveTheirOwn) {
  put(R"({"username":"Ann"})");
  put(R"({"username":"Bob"})", "bob");

  EXPECT_EQ(boost::json::parse(get("ann").body).at("username"), "Ann");
  EXPECT_EQ(boost::json::parse(get("bob").body).at("username"), "Bob");
  EXPECT_EQ(boost::json::parse(get("cleo").body).at("username"), "");
}

TEST_F(ProfileRoute, FLOW_5_OldSettingsAreUpgradedOnWrite) {
  auto const response = put(profile("Ann", "", settings("1", kPreferences)));

  EXPECT_EQ(response.body, profile("Ann", "", settings("2", kPreferences)));
  EXPECT_EQ(row("ann").value().settings, settings("2", kPreferences));
}

TEST_F(DeferredProfileRoute, FLOW_5_AnUpgradeCanBeDeferred) {
  EXPECT_EQ(get().body, profile("", "", settings("1", kDefaults)));

  auto const old = put(profile("Ann", "", settings("1", kPreferences)));
  EXPECT_EQ(old.body, profile("Ann", "", settings("1", kPreferences)));
  EXPECT_EQ(get().body, old.body);

  auto const newest = put(profile("Ann", "", settings("2", kPreferences)));
  EXPECT_EQ(newest.body, profile("Ann", "", settings("2", kPreferences)));
  EXPECT_EQ(get().body, newest.body);
}

TEST_F(ProfileRoute, FLOW_5_WhatIsWrongIsNamed) {
  EXPECT_EQ(violations(R"({"name":"x","settings":{"theme":1}})").size(), 2U);
  EXPECT_EQ(violations(R"({"username":5})"), Named{"/username: must be a string or null"});
  EXPECT_EQ(violations(R"({"settings":{"version":3}})"), Named{"/settings/version: must be one of 1 or 2"});
  EXPECT_EQ(violations(R"({"settings":{"safety":{}}})"),
            Named{"/settings/safety: is not known before version 2"});
  EXPECT_EQ(
      violations(R"({"settings":{"preferences":{"timezone":"Mars/Base","country":"cn"}}})"),
      (Named{"/settings/preferences/timezone: must be a time zone in the IANA database such as Asia/Shanghai",
             "/settings/preferences/country: must be an ISO 3166-1 country code in upper case such as CN"}));
  EXPECT_EQ(violations(R"({"settings":{"privacy":{"x":")" + std::string(20'000, 'x') + R"("}}})"),
            Named{"/settings: must take at most 16384 bytes"});
  EXPECT_FALSE(row("ann").has_value());
}

TEST_F(ProfileRoute, FLOW_5_AllThatIsWrongIsNamedAtOnce) {
  EXPECT_EQ(violations(R"({"settings":{"preferences":{"interface_language":"en_US","ai_language":"xx",)"
                       R"("timezone":"Mars","country":"cn"},"foo":1,"version":3},"nick":"x"})")
                .size(),
            7U);
  std::string many = R"({"settings":{"preferences":{"country":"cn"}})";
  for (int i = 0; i < 30; ++i)
    many += ",\"x" + std::to_string(i) + "\":1";
  EXPECT_EQ(violations(many + "}").size(), base::kMostViolations);
  EXPECT_FALSE(row("ann").has_value());
}

TEST_F(ProfileRoute, FLOW_5_TheDocumentHasTheSameLimits) {
  for (auto const& [key, most] : {std::pair{"username", kLongestUsername}, std::pair{"bio", kLongestBio}}) {
    auto const with = [key = std::string{key}](std::size_t length) {
      return R"({")" + key + R"(":")" + std::string(length, 'x') + R"("})";
    };
    EXPECT_EQ(put(with(most)).status, 200) << key;
    EXPECT_EQ(violations(with(most + 1)).size(), 1U) << key;
  }
}

TEST_F(ProfileRoute, HTTP_1_NulIsRefused) {
  auto const response = put(R"({"bio":"a\u0000b"})");

  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("INVALID_JSON"), std::string::npos);
}

TEST_F(ProfileRoute, FLOW_5_BadStoredValuesFallBack) {
  Row bad;
  bad.username = "Ann";
  bad.bio = "Likes tea.";
  bad.settings = R"({"version":9,"preferences":{"ai_language":"xx","country":"DE","timezone":7}})";
  auto none = bad;
  none.settings = std::nullopt;
  for (auto const& [user, stored] : {std::pair{"ann", bad}, std::pair{"bob", none}}) {
    run_async(rows.put(UserId{user}, stored)).value();
  }

  auto const half = boost::json::parse(get("ann").body);
  EXPECT_EQ(half.at("username"), "Ann");
  auto const preferences = half.at("settings").at("preferences");
  EXPECT_EQ(preferences.at("ai_language"), "zh-CN");
  EXPECT_EQ(preferences.at("timezone"), "Asia/Shanghai");
  EXPECT_EQ(preferences.at("country"), "DE");
  EXPECT_EQ(get("bob").body, profile("Ann", "Likes tea.", settings("2", kDefaults)));
}

}  // namespace
}  // namespace runnel::modules::profile
