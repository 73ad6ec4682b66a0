#include "runnel/app/flows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "runnel/app/skills.h"
#include "runnel/app/tools/tools.h"
#include "runnel/model/builtin/offline.h"
#include "runnel/store/testing/sqlite_under_test.h"

namespace runnel::app {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kConf[] = RUNNEL_SOURCE_DIR "/conf";

model::Registry offline_only() {
  std::vector<std::unique_ptr<model::Provider>> providers;
  providers.push_back(std::make_unique<model::OfflineProvider>(model::OfflineOptions{}));
  return model::Registry{std::move(providers)};
}

class FlowsOfSettings : public testing::Test {
 protected:
  FlowsOfSettings() {
    std::filesystem::copy(kConf, folder.file("conf"), std::filesystem::copy_options::recursive);
    settings.flows_dir = folder.file("conf");
  }

  void append(std::string const& name, std::string const& text) {
    std::ofstream{folder.file("conf/" + name), std::ios::app} << text;
  }

  std::vector<std::string> problems() { return check_flows(settings, &models, {}, skills.get()).problems; }

  store::TemporaryFolder folder;
  model::Registry const models = offline_only();
  std::shared_ptr<base::Skills const> const skills = load_skills(Settings{}).skills;
  Settings settings;
};

TEST_F(FlowsOfSettings, FLOW_1_TheBinaryHasTheShippedFiles) {
  auto const shipped = flow::read_files(kConf).value();

  EXPECT_EQ(built_in_flows().texts, shipped.texts)
      << "a new file must be named in src/runnel/app/CMakeLists.txt";
}

TEST_F(FlowsOfSettings, FLOW_2_RouterWorkerIsTheDefault) {
  auto const flows = load_flows(Settings{}, models, {}, *skills);

  ASSERT_TRUE(flows) << flows.error().detail;
  EXPECT_EQ(flows->default_name(), "router_worker");
  EXPECT_THAT(flows->names(), ElementsAre("chat", "intent_execution_organization", "router_worker"));
}

TEST_F(FlowsOfSettings, FLOW_1_FilesOfAFolderTakeTheirPlace) {
  std::filesystem::remove(folder.file("conf/flows/router_worker.yaml"));
  settings.default_flow = "chat";

  auto const flows = load_flows(settings, models, {}, *skills);

  ASSERT_TRUE(flows) << flows.error().detail;
  EXPECT_THAT(flows->names(), ElementsAre("chat", "intent_execution_organization"));
}

TEST_F(FlowsOfSettings, FLOW_1_EveryMistakeIsALineWithItsFile) {
  append("agents.yaml", "\nodd: {role: a, goal: b}\n");
  append("flows/chat.yaml", "limit: {}\n");
  std::filesystem::remove(folder.file("conf/prompts.yaml"));

  auto const flows = load_flows(settings, models, {}, *skills);

  ASSERT_FALSE(flows);
  auto const conf = settings.flows_dir;
  EXPECT_THAT(problems(),
              ElementsAre(AllOf(StartsWith(conf + "/agents.yaml:"), HasSubstr("'backstory' is missing")),
                          conf + "/prompts.yaml: there is no such file, or it cannot be read",
                          AllOf(StartsWith(conf + "/flows/chat.yaml:"), HasSubstr("'limit'"))));
  EXPECT_THAT(flows.error().detail, AllOf(HasSubstr("'backstory'"), HasSubstr("\n"), HasSubstr("'limit'")));
}

TEST_F(FlowsOfSettings, FLOW_1_FolderAndDefaultMustBeThere) {
  settings.default_flow = "none";
  EXPECT_THAT(problems(),
              ElementsAre(StartsWith("flows.default: there is no flow 'none'; the flows are chat")));

  settings.flows_dir = folder.file("nowhere");
  EXPECT_THAT(problems(), ElementsAre(StartsWith("flows.dir: " + settings.flows_dir)));
}

TEST_F(FlowsOfSettings, USE_1_ModelsMustBeServedWhereItIsKnownWhichAre) {
  append("system_agents.yaml", "\nresult_reporter: {model: gpt-0}\n");

  EXPECT_THAT(problems(), ElementsAre(HasSubstr("no provider has a model 'gpt-0'; known: offline")));
  EXPECT_THAT(check_flows(settings, nullptr, {}, nullptr).problems, ElementsAre());
}

}  // namespace
}  // namespace runnel::app
