#include "runnel/app/settings/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace runnel::app {
namespace {

constexpr char const* kNoEnvironment[] = {nullptr};

// A temporary settings file.
class File {
 public:
  explicit File(std::string const& text) {
    char name[] = "/tmp/runnel-settings-XXXXXX";
    close(mkstemp(name));
    path_ = name;
    std::ofstream{path_} << text;
  }
  ~File() { unlink(path_.c_str()); }
  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string path_;
};

std::string refusal(std::string const& yaml) {
  File const file{yaml};
  auto const settings = load_settings(file.path(), kNoEnvironment, {});
  if (settings) return "accepted";
  auto detail = settings.error().detail;
  return detail.replace(0, file.path().size(), "FILE");
}

TEST(Settings, CFG_1_FlagsOverEnvironmentOverFile) {
  File const file{"listen: 127.0.0.1:1\ndata_dir: from-file\nhttp:\n  keep_alive_s: 7\n"};
  char const* const environment[] = {"RUNNEL_LISTEN=127.0.0.1:2", "RUNNEL_DATA_DIR=from-environment",
                                     "OTHER=1", nullptr};

  auto const settings = load_settings(file.path(), environment, {{"listen", "127.0.0.1:3"}});

  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->listen, "127.0.0.1:3");
  EXPECT_EQ(settings->data_dir, "from-environment");
  EXPECT_EQ(settings->keep_alive_s, 7);
}

TEST(Settings, CFG_1_UnknownKeyIsAnErrorWithFileAndLine) {
  EXPECT_EQ(
      refusal("listen: 127.0.0.1:1\nretention:\n  sweep: 7\n"),
      "FILE:3: unknown setting 'retention.sweep'; known here: events_s, sweep_s; did you mean sweep_s?");
  EXPECT_EQ(refusal("profile:\n  nonsense: 7\n"),
            "FILE:2: unknown setting 'profile.nonsense'; known here: upgrade_on_write");
  EXPECT_TRUE(refusal("htp: {}\n").ends_with("; did you mean http?"));
  EXPECT_TRUE(refusal("keep_alive_s: 7\n").ends_with("; did you mean http.keep_alive_s?"));
}

TEST(Settings, CFG_1_ATabThatIndentsIsNamed) {
  EXPECT_EQ(refusal("listen: 127.0.0.1:1\nhttp:\n  json_depth: 9\n\tkeep_alive_s: 7\n"),
            "FILE:4: tab used for indentation; YAML takes spaces only");
  EXPECT_EQ(refusal("http:\n\t# A comment.\n  keep_alive_s:\t7\n"), "accepted");
}

TEST(Settings, CFG_1_AFileHasOneDocument) {
  EXPECT_EQ(refusal("listen: 127.0.0.1:1\n---\nlisten: 127.0.0.1:2\n"),
            "FILE:3: a second document begins here; a file must have only one");
  EXPECT_EQ(refusal("---\nlisten: 127.0.0.1:1\n"), "accepted");
  EXPECT_EQ(refusal("# Nothing.\n"), "accepted");
  EXPECT_EQ(refusal(""), "accepted");
}

TEST(Settings, CFG_1_AFileThatIsNestedTooDeeplyIsRefused) {
  EXPECT_NE(refusal("listen: " + std::string(5000, '[')).find(": nested too deeply"), std::string::npos);
}

TEST(Settings, FLOW_5_TheUpgradeOfProfilesCanBeDeferred) {
  File const file{"profile:\n  upgrade_on_write: false\n"};

  EXPECT_TRUE(load_settings("", kNoEnvironment, {}).value().upgrade_profiles);
  EXPECT_FALSE(load_settings(file.path(), kNoEnvironment, {}).value().upgrade_profiles);
  EXPECT_EQ(refusal("profile:\n  upgrade_on_write: later\n"),
            "FILE:2: 'profile.upgrade_on_write' must be true or false");
}

TEST(Settings, ListsComeAsYamlOrWithCommas) {
  File const file{"auth:\n  keys: [a=/k/a, /k/b]\n"};
  char const* const environment[] = {"RUNNEL_HTTP_ALLOWED_ORIGINS=https://a.example, https://b.example",
                                     nullptr};

  auto const settings = load_settings(file.path(), environment, {});

  ASSERT_TRUE(settings) << settings.error().detail;
  EXPECT_EQ(settings->auth_keys, (std::vector<std::string>{"a=/k/a", "/k/b"}));
  EXPECT_EQ(settings->allowed_origins, (std::vector<std::string>{"https://a.example", "https://b.example"}));
  EXPECT_EQ(refusal("auth:\n  keys: [{a: b}]\n"), "FILE:2: 'auth.keys' must be a list of single values");
  char const* const unfilled[] = {"RUNNEL_AUTH_KEYS=", nullptr};
  EXPECT_FALSE(load_settings(file.path(), unfilled, {}));
}

TEST(Settings, HTTP_5_AnEmptyEntryOfAuthKeysIsAMistakeAndNeverDevMode) {
  std::string const mistake =
      "FILE:2: 'auth.keys' must not have empty items; for an empty list leave the setting out, or write [] "
      "in "
      "the file";
  for (char const* keys :
       {"[\"\"]", "\"\"", "\"a,,b\"", "\"a,\"", "\",\"", "[a, \"\"]", "[\"\", a]", "[\" \"]"})
    EXPECT_EQ(refusal(std::string{"auth:\n  keys: "} + keys + "\n"), mistake) << keys;
  EXPECT_EQ(refusal("auth:\n  keys: []\n"), "accepted");
  for (char const* variable :
       {"RUNNEL_AUTH_KEYS=", "RUNNEL_AUTH_KEYS= ", "RUNNEL_AUTH_KEYS=a,", "RUNNEL_AUTH_KEYS=,"}) {
    char const* const environment[] = {variable, nullptr};
    EXPECT_FALSE(load_settings("", environment, {})) << variable;
  }
}

TEST(Settings, WrongValuesSayWhatIsRight) {
  EXPECT_EQ(refusal("auth:\n  algorithm: none\n"),
            "FILE:2: 'auth.algorithm' must be one of HS256, RS256, ES256");
  EXPECT_EQ(refusal("models:\n  test:\n    enabled: yes\n"),
            "FILE:3: 'models.test.enabled' must be true or false");
  EXPECT_EQ(refusal("http:\n  keep_alive_s: soon\n"),
            "FILE:2: 'http.keep_alive_s' must be a whole number from 1 to 3600");
  EXPECT_EQ(refusal("log:\n  level: loud\n"), "FILE:2: 'log.level' must be debug, info, warn or error");
  EXPECT_EQ(refusal("cores: [1]\n"), "FILE:1: 'cores' must be a single value");
  EXPECT_EQ(refusal("cores: 1\ncores: 2\n"), "FILE:2: 'cores' is set twice");
  EXPECT_EQ(refusal("http: 3\n"), "FILE:1: expected a map of settings");
  EXPECT_NE(refusal("a: [\n").find("FILE:"), std::string::npos);
}

TEST(Settings, MissingFileAndBadVariableAreErrors) {
  EXPECT_FALSE(load_settings("/nonexistent/runnel.yaml", kNoEnvironment, {}));
  char const* const environment[] = {"RUNNEL_HTTP_KEEP_ALIVE_S=x", nullptr};
  EXPECT_NE(load_settings("", environment, {}).error().detail.find("RUNNEL_HTTP_KEEP_ALIVE_S"),
            std::string::npos);
}

TEST(Settings, CFG_3_AllMistakesOfTheFileAreToldAtOnce) {
  File const file{"cores: many\nretention:\n  sweep: 7\nlog: {level: loud}\n"};

  auto const settings = load_settings(file.path(), kNoEnvironment, {});

  EXPECT_EQ(
      settings.error().detail,
      file.path() + ":1: 'cores' must be a whole number from 0 to 256\n" + file.path() +
          ":3: unknown setting 'retention.sweep'; known here: events_s, sweep_s; did you mean sweep_s?\n" +
          file.path() + ":4: 'log.level' must be debug, info, warn or error");
}

TEST(Settings, MistypedVariablesAreFound) {
  char const* const environment[] = {"RUNNEL_LISTEN=x", "RUNNEL_LISTNE=x", "PATH=x", "RUNNEL_", nullptr};

  EXPECT_EQ(unknown_variables(environment), (std::vector<std::string>{"RUNNEL_LISTNE", "RUNNEL_"}));
  EXPECT_EQ(about_unknown_variable("RUNNEL_LISTNE"),
            "the environment variable RUNNEL_LISTNE is not a setting; did you mean RUNNEL_LISTEN?");
  EXPECT_EQ(about_unknown_variable("RUNNEL_OTHER_THING"),
            "the environment variable RUNNEL_OTHER_THING is not a setting");
}

TEST(Settings, CFG_1_TheCommentedFileHasEveryKeyWithItsDefault) {
  auto const path = std::string{RUNNEL_SOURCE_DIR} + "/conf/runnel.yaml";
  auto const settings = load_settings(path, kNoEnvironment, {});
  ASSERT_TRUE(settings) << settings.error().detail;
  Settings const defaults;
  EXPECT_EQ(settings->listen, defaults.listen);
  EXPECT_EQ(settings->events_s, defaults.events_s);
  EXPECT_EQ(settings->subscriber_buffer_bytes, defaults.subscriber_buffer_bytes);
  EXPECT_EQ(settings->word_delay_ms, defaults.word_delay_ms);
  EXPECT_EQ(settings->max_recoveries, defaults.max_recoveries);
  EXPECT_EQ(settings->flows_dir, defaults.flows_dir);
  EXPECT_EQ(settings->default_flow, defaults.default_flow);
  EXPECT_EQ(settings->upgrade_profiles, defaults.upgrade_profiles);

  std::ifstream file{path};
  std::stringstream text;
  text << file.rdbuf();
  for (auto const& key : setting_keys()) {
    auto const leaf = key.substr(key.rfind('.') + 1) + ":";
    EXPECT_NE(text.str().find(leaf), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace runnel::app
