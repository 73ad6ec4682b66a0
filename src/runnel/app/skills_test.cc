#include "runnel/app/skills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "runnel/app/modules.h"

namespace runnel::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

constexpr char kShipped[] = RUNNEL_SOURCE_DIR "/skills";

TEST(ShippedSkills, TOOL_11_TheBinaryHasThem) {
  auto const files = base::read_skill_files(kShipped).value();

  EXPECT_EQ(built_in_skills().texts, files.texts);
  EXPECT_EQ(built_in_skills().skills, files.skills);
  EXPECT_THAT(files.refused, IsEmpty());
}

TEST(ShippedSkills, TOOL_11_LoadWithoutMistakes) {
  auto const loaded = load_skills(Settings{});

  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(*loaded.skills, ElementsAre(Key("calendar"), Key("contacts"), Key("memory")));
  EXPECT_EQ(skills_in_words(Settings{}, *loaded.skills), "calendar, contacts, memory; built in");
}

// A skill without action files describes everything in its card.
TEST(ShippedSkills, TOOL_11_ActionsAreTheMethodsOfTheModule) {
  auto const names = Modules{Settings{}}.method_names();
  std::set<std::string> const methods{names.begin(), names.end()};
  auto const skills = load_skills(Settings{}).skills;
  EXPECT_FALSE(skills->at("contacts").actions.empty());
  EXPECT_THAT(skills->at("memory").actions, ElementsAre(Key("read"), Key("update")));
  for (auto const& [name, skill] : *skills) {
    if (skill.actions.empty()) continue;
    std::set<std::string> documented;
    for (auto const& [action, text] : skill.actions)
      documented.insert(name + "." + action);
    std::set<std::string> of_module;
    for (auto const& method : methods) {
      if (method.starts_with(name + ".")) of_module.insert(method);
    }
    EXPECT_EQ(documented, of_module);
  }
}

TEST(SkillsOfAFolder, TOOL_11_TakeThePlaceOfTheShippedOnes) {
  Settings settings;
  settings.skills_dir = kShipped;
  EXPECT_THAT(load_skills(settings).problems, IsEmpty());
  EXPECT_EQ(skills_in_words(settings, {}), std::string{"none; from "} + kShipped);

  settings.skills_dir = "/nonexistent";
  auto const gone = load_skills(settings);
  EXPECT_EQ(gone.skills, nullptr);
  EXPECT_THAT(gone.problems,
              ElementsAre("skills.dir: /nonexistent: there is no such folder, or it cannot be read"));
}

}  // namespace
}  // namespace runnel::app
