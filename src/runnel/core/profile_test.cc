#include "runnel/core/profile.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace runnel {
namespace {

using Told = std::vector<std::pair<std::string, std::string>>;

constexpr char kWhole[] = R"({"username":"Ann","bio":"Likes tea.","settings":{"version":2,"preferences":{)"
                          R"("interface_language":"en-GB","ai_language":"de","timezone":"Europe/Berlin",)"
                          R"("country":"DE"},"privacy":{"share":false},"notification":{"at":[8,20]},)"
                          R"("safety":{"level":"high"}}})";
constexpr char kDefaultSettings[] =
    R"({"version":1,"preferences":{"interface_language":"zh-CN","ai_language":"zh-CN",)"
    R"("timezone":"Asia/Shanghai","country":"CN"},"privacy":{},"notification":{}})";

Told problems_of(std::vector<ProfileProblem> const& problems) {
  Told out;
  for (auto const& [path, what] : problems)
    out.emplace_back(path, what);
  return out;
}

Told refused_profile(std::string_view text) {
  return problems_of(read_profile_strictly(text).problems);
}

std::vector<std::string> paths_of(std::vector<ProfileProblem> const& problems) {
  std::vector<std::string> out;
  for (auto const& problem : problems)
    out.push_back(problem.path);
  return out;
}

using Paths = std::vector<std::string>;

TEST(Profile, FLOW_5_DefaultsAreTheOnesThatWereAgreed) {
  EXPECT_EQ(to_json(ProfileSettings{}), kDefaultSettings);
  EXPECT_EQ(to_json(Profile{}),
            std::string{R"({"username":"","bio":"","settings":)"} + kDefaultSettings + "}");
}

TEST(Profile, FLOW_5_AWholeOneIsReadAndWrittenAsItIs) {
  auto const reading = read_profile_strictly(kWhole);

  EXPECT_EQ(problems_of(reading.problems), Told{});
  EXPECT_EQ(reading.profile.username, "Ann");
  EXPECT_EQ(reading.profile.settings.preferences.ai_language, "de");
  EXPECT_EQ(reading.profile.settings.safety, R"({"level":"high"})");
  EXPECT_EQ(to_json(reading.profile), kWhole);
  auto const stored = read_stored_profile(kWhole);
  EXPECT_EQ(stored.profile, reading.profile);
  EXPECT_TRUE(stored.problems.empty());
}

TEST(Profile, FLOW_5_WhatIsLeftOutOrNullHasItsDefault) {
  for (auto const* text : {"{}", R"({"username":null,"bio":null,"settings":null})", R"({"settings":{}})",
                           R"({"settings":{"preferences":{}}})", R"({"settings":{"version":1}})"}) {
    auto const reading = read_profile_strictly(text);

    EXPECT_EQ(problems_of(reading.problems), Told{}) << text;
    EXPECT_EQ(reading.profile, Profile{}) << text;
    EXPECT_EQ(read_stored_profile(text).profile, Profile{}) << text;
    EXPECT_TRUE(read_stored_profile(text).problems.empty()) << text;
  }
  EXPECT_EQ(read_stored_profile("").profile, Profile{});
  EXPECT_TRUE(read_stored_profile("").problems.empty());
  EXPECT_EQ(read_stored_settings("").settings, ProfileSettings{});
  EXPECT_EQ(read_stored_settings("null").settings, ProfileSettings{});
  EXPECT_TRUE(read_stored_settings("null").problems.empty());
}

TEST(Profile, FLOW_5_StrictReadingNamesUnknownFields) {
  EXPECT_EQ(refused_profile(R"({"name":"x","a/b~c":1,"settings":{"theme":1,"preferences":{"zone":"UTC"}}})"),
            (Told{{"/name", "is not known"},
                  {"/a~1b~0c", "is not known"},
                  {"/settings/theme", "is not known"},
                  {"/settings/preferences/zone", "is not known"}}));
  EXPECT_EQ(refused_profile(
                R"({"settings":{"version":2,"privacy":{"a":1},"notification":{"b":{}},"safety":{"c":[]}}})"),
            Told{});
}

TEST(Profile, FLOW_5_StrictReadingNamesWrongTypes) {
  EXPECT_EQ(refused_profile("[]"), (Told{{"", "must be an object"}}));
  EXPECT_EQ(refused_profile(R"({"username":1,"bio":[],"settings":"x"})"),
            (Told{{"/username", "must be a string"},
                  {"/bio", "must be a string"},
                  {"/settings", "must be an object"}}));
  EXPECT_EQ(
      refused_profile(
          R"({"settings":{"preferences":null,"privacy":[],"notification":null,"version":2,"safety":1}})"),
      (Told{{"/settings/preferences", "must be an object"},
            {"/settings/privacy", "must be an object"},
            {"/settings/notification", "must be an object"},
            {"/settings/safety", "must be an object"}}));
  EXPECT_EQ(refused_profile(R"({"settings":{"preferences":{"country":null,"timezone":8}}})"),
            (Told{{"/settings/preferences/timezone", "must be a string"},
                  {"/settings/preferences/country", "must be a string"}}));
}

TEST(Profile, FLOW_5_StrictReadingNamesWrongValues) {
  EXPECT_EQ(
      refused_profile(R"({"settings":{"preferences":{"interface_language":"en_US","ai_language":"xx",)"
                      R"("timezone":"asia/shanghai","country":"cn"}}})"),
      (Told{
          {"/settings/preferences/interface_language", "must be a known BCP 47 language tag such as zh-CN"},
          {"/settings/preferences/ai_language", "must be a known BCP 47 language tag such as zh-CN"},
          {"/settings/preferences/timezone",
           "must be a time zone in the IANA database such as Asia/Shanghai"},
          {"/settings/preferences/country", "must be an ISO 3166-1 country code in upper case such as CN"}}));
}

TEST(Profile, FLOW_5_StrictReadingNamesAllThatIsWrongAtOnce) {
  auto const reading = read_profile_strictly(
      R"({"settings":{"preferences":{"interface_language":"en_US","ai_language":"xx","timezone":"Mars",)"
      R"("country":"cn"},"foo":1,"version":3},"nick":"x"})");

  EXPECT_EQ(paths_of(reading.problems),
            (Paths{"/nick", "/settings/foo", "/settings/version", "/settings/preferences/interface_language",
                   "/settings/preferences/ai_language", "/settings/preferences/timezone",
                   "/settings/preferences/country"}));
}

TEST(Profile, FLOW_5_OfManyProblemsTheFirstAreTold) {
  std::string text = "{\"x\":1";
  for (int i = 0; i < 30; ++i)
    text += ",\"x" + std::to_string(i) + "\":1";

  EXPECT_EQ(refused_profile(text + "}").size(), kMostProfileProblems);
}

TEST(Profile, FLOW_5_LanguagesAreKeptAsSent) {
  auto const reading = read_profile_strictly(R"({"settings":{"preferences":{"ai_language":"ZH-hant-tw"}}})");

  EXPECT_TRUE(reading.problems.empty());
  EXPECT_EQ(reading.profile.settings.preferences.ai_language, "ZH-hant-tw");
}

TEST(Profile, FLOW_5_AnUnknownVersionIsAnError) {
  for (auto const* version : {"0", "3", "-1", "2.0", "1.5", "\"2\"", "null", "true", "[]", "{}"}) {
    auto const text = std::string{R"({"settings":{"version":)"} + version + "}}";
    EXPECT_EQ(refused_profile(text), (Told{{"/settings/version", "must be 1 or 2"}})) << version;
  }
}

TEST(Profile, FLOW_5_SafetyBelongsToVersion2) {
  EXPECT_EQ(refused_profile(R"({"settings":{"version":1,"safety":{}}})"),
            (Told{{"/settings/safety", "is not known before version 2"}}));
  EXPECT_EQ(refused_profile(R"({"settings":{"safety":{}}})"),
            (Told{{"/settings/safety", "is not known before version 2"}}));
  EXPECT_EQ(refused_profile(R"({"settings":{"version":2,"safety":{}}})"), Told{});
}

TEST(Profile, FLOW_5_BrokenJsonIsToldWithItsPlace) {
  for (auto const* text : {"", "{", "{}}", R"({"a":1,"a":2})", R"({"bio":"\u0000"})", "{\"bio\":\"\xff\"}",
                           R"({"bio":"\ud800"})"}) {
    auto const reading = read_profile_strictly(text);
    EXPECT_EQ(paths_of(reading.problems), Paths{""}) << text;
    EXPECT_EQ(reading.problems.front().what.find("line 1, column "), 0U) << reading.problems.front().what;
  }
}

TEST(Profile, FLOW_5_SizesAreLimitedWhenWrittenOnly) {
  auto const with = [](std::string const& key, std::string const& text) {
    return "{\"" + key + "\":\"" + text + "\"}";
  };
  std::string names;
  for (int i = 0; i < 256; ++i)
    names += "名";
  std::string const bio(10'000, 'b');
  EXPECT_EQ(refused_profile(with("username", names)), Told{});
  EXPECT_EQ(refused_profile(with("username", names + "x")),
            (Told{{"/username", "must have at most 256 characters"}}));
  EXPECT_EQ(refused_profile(with("bio", bio)), Told{});
  EXPECT_EQ(refused_profile(with("bio", bio + "b")), (Told{{"/bio", "must have at most 10000 characters"}}));

  auto const large = R"({"settings":{"privacy":{"x":")" + std::string(16 * 1024, 'x') + R"("}}})";
  EXPECT_EQ(refused_profile(large), (Told{{"/settings", "must take at most 16384 bytes"}}));
  EXPECT_TRUE(read_stored_profile(large).problems.empty());
  EXPECT_EQ(read_stored_profile(with("bio", bio + "b")).profile.bio.size(), 10'001U);
}

TEST(Profile, FLOW_5_ABadStoredValueFallsBackAlone) {
  auto const reading = read_stored_profile(
      R"({"username":7,"bio":"kept","extra":1,"settings":{"version":1,"more":2,"preferences":)"
      R"({"interface_language":"en","ai_language":"klingonese","timezone":"Mars/Base","country":"de","x":0},)"
      R"("privacy":"open","notification":{"kept":true}}})");

  EXPECT_EQ(paths_of(reading.problems),
            (Paths{"/username", "/settings/preferences/ai_language", "/settings/preferences/timezone",
                   "/settings/preferences/country", "/settings/privacy"}));
  auto const& profile = reading.profile;
  EXPECT_EQ(profile.username, "");
  EXPECT_EQ(profile.bio, "kept");
  EXPECT_EQ(profile.settings.preferences, (Preferences{"en", "zh-CN", "Asia/Shanghai", "CN"}));
  EXPECT_EQ(profile.settings.privacy, "{}");
  EXPECT_EQ(profile.settings.notification, R"({"kept":true})");
  for (auto const& problem : reading.problems) {
    EXPECT_EQ(problem.what.find("klingonese"), std::string::npos);
    EXPECT_EQ(problem.what.find("Mars"), std::string::npos);
  }
}

TEST(Profile, FLOW_5_BrokenStoredJsonGivesDefaultsAndAProblem) {
  auto const deep = std::string(100'000, '[');
  for (std::string_view const text :
       {std::string_view{"{"}, std::string_view{"7"}, std::string_view{"[]"}, std::string_view{"\xff"},
        std::string_view{"null"}, std::string_view{deep}, std::string_view{"{}\0", 3}}) {
    auto const reading = read_stored_profile(text);

    EXPECT_EQ(reading.profile, Profile{}) << text.substr(0, 9);
    EXPECT_EQ(paths_of(reading.problems), Paths{""}) << text.substr(0, 9);
  }
  auto const settings = read_stored_settings("{");
  EXPECT_EQ(settings.settings, ProfileSettings{});
  EXPECT_EQ(paths_of(settings.problems), Paths{""});
}

TEST(Profile, FLOW_5_AStoredUnknownVersionIsReadAsFarAsItGoes) {
  auto const reading = read_stored_settings(
      R"({"version":9,"preferences":{"ai_language":"fr","country":"FR"},"safety":{"a":1},"future":[]})");

  EXPECT_EQ(problems_of(reading.problems), (Told{{"/version", "must be 1 or 2"}}));
  EXPECT_EQ(reading.settings.version, kNewestProfileVersion);
  EXPECT_EQ(reading.settings.preferences, (Preferences{"zh-CN", "fr", "Asia/Shanghai", "FR"}));
  EXPECT_EQ(reading.settings.safety, R"({"a":1})");
}

TEST(Profile, FLOW_5_AnUpgradeCopiesAndAddsSafety) {
  auto const old = read_profile_strictly(R"({"username":"Ann","settings":{"preferences":{"country":"DE"},)"
                                         R"("privacy":{"p":1},"notification":{"n":2}}})")
                       .profile;

  EXPECT_EQ(
      to_json(upgrade(old, false).settings),
      R"({"version":2,"preferences":{"interface_language":"zh-CN","ai_language":"zh-CN",)"
      R"("timezone":"Asia/Shanghai","country":"DE"},"privacy":{"p":1},"notification":{"n":2},"safety":{}})");
  EXPECT_EQ(upgrade(old, false).username, "Ann");
  EXPECT_EQ(upgrade(old, true), old);
  auto const whole = read_profile_strictly(kWhole).profile;
  EXPECT_EQ(upgrade(whole, false), whole);
  EXPECT_EQ(upgrade(whole, true), whole);
}

TEST(Profile, FLOW_5_WhatIsWrittenCanBeReadWhateverItHolds) {
  Profile profile;
  profile.username = "\"},{\n\t\u2028</script>\x01 名字 \xf0\x9f\x8d\xb5";
  profile.bio = std::string(1000, '\\');

  auto const text = to_json(profile);

  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(read_profile_strictly(text).profile, profile);
  EXPECT_EQ(boost::json::parse(text).at("username").as_string(), profile.username);
}

}  // namespace
}  // namespace runnel
