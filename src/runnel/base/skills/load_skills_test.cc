#include "runnel/base/skills/load_skills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace runnel::base {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;

constexpr char kGoodCard[] = "---\nname: tea\ndescription: Makes tea.\n---\n# Tea\n\nBoil it.\n";

class SkillFolderOnDisk : public testing::Test {
 protected:
  SkillFolderOnDisk() {
    std::string path = (fs::temp_directory_path() / "runnel-skills-XXXXXX").string();
    root = ::mkdtemp(path.data());
    write("tea/SKILL.md", kGoodCard);
  }
  ~SkillFolderOnDisk() override { fs::remove_all(root); }

  void write(std::string const& name, std::string const& text) const { write_at(folder() / name, text); }
  static void write_at(fs::path const& path, std::string const& text) {
    fs::create_directories(path.parent_path());
    std::ofstream{path, std::ios::binary} << text;
  }
  [[nodiscard]] fs::path folder() const { return root / "skills"; }
  [[nodiscard]] LoadedSkills load() const { return load_skills(read_skill_files(folder().string()).value()); }
  // The only problem, without the folder in front of it.
  [[nodiscard]] std::string problem() const {
    auto const loaded = load();
    EXPECT_EQ(loaded.problems.size(), 1u) << testing::PrintToString(loaded.problems);
    if (loaded.problems.empty()) return {};
    EXPECT_TRUE(loaded.problems.front().starts_with(folder().string() + "/")) << loaded.problems.front();
    return loaded.problems.front().substr(folder().string().size() + 1);
  }

  fs::path root;
};

TEST_F(SkillFolderOnDisk, TOOL_11_HasACardAndATextPerAction) {
  write("tea/pour.md", "# Pour\n\nSlowly.\n");
  write("coffee_2/SKILL.md",
        "---\r\nname: coffee_2\r\ndescription: >\r\n  Makes\r\n  coffee.\r\n---\r\nGrind.\r\n");
  write("README.md", "Not a skill.");
  write(".hidden/whatever", "Not a skill.");

  auto const loaded = load();

  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.skills, ElementsAre(Key("coffee_2"), Key("tea")));
  EXPECT_EQ(loaded.skills.at("tea").description, "Makes tea.");
  EXPECT_EQ(loaded.skills.at("tea").content, "# Tea\n\nBoil it.");
  EXPECT_THAT(loaded.skills.at("tea").actions, ElementsAre(Pair("pour", "# Pour\n\nSlowly.")));
  EXPECT_EQ(loaded.skills.at("coffee_2").description, "Makes coffee.");
  EXPECT_EQ(loaded.skills.at("coffee_2").content, "Grind.");
}

TEST_F(SkillFolderOnDisk, TOOL_11_EachMistakeInACardHasItsPlace) {
  struct Mistake {
    char const* card;
    char const* problem;
  };
  for (auto const& [card, told] : {
           Mistake{"# Tea\n", "tea/SKILL.md:1: a skill begins with a line ---"},
           Mistake{"", "tea/SKILL.md:1: a skill begins with a line ---"},
           Mistake{"---\nname: tea\ndescription: Makes tea.\n", "tea/SKILL.md:1: a skill begins"},
           Mistake{"---\nname: te\ndescription: a\n---\nx", "tea/SKILL.md:2:7: the name must be 'tea'"},
           Mistake{"---\nname: ../tea\ndescription: a\n---\nx", "tea/SKILL.md:2:7: the name must be 'tea'"},
           Mistake{"---\nname: tea\n---\nx", "tea/SKILL.md:2:1: 'description' is missing"},
           Mistake{"---\ndescription: a\n---\nx", "tea/SKILL.md:2:1: 'name' is missing"},
           Mistake{"---\nname: tea\ndescription: ''\n---\nx", "tea/SKILL.md:3:14: 'description' must not be"},
           Mistake{"---\nname: tea\ndescription: \"a\\nb\"\n---\nx",
                   "tea/SKILL.md:3:14: 'description' must be one"},
           Mistake{"---\nname: tea\ndescription: a\ntools: b\n---\nx",
                   "tea/SKILL.md:4:1: unknown key 'tools'"},
           Mistake{"---\nname: tea\ndescription: a\n---\n \n", "tea/SKILL.md: there is no text below"},
           Mistake{"---\nname: tea\ndescription: a\n---\nx\n\xff\n", "tea/SKILL.md:6: the line is not UTF-8"},
           Mistake{"---\nname: tea\ndescription: a\n---\nx\x01\n", "tea/SKILL.md:5: the line has a control"},
       }) {
    write("tea/SKILL.md", card);
    EXPECT_THAT(problem(), testing::StartsWith(told)) << card;
  }
  write("tea/SKILL.md", "---\nname: tea\ndescription: " + std::string(501, 'x') + "\n---\nx");
  EXPECT_THAT(problem(), HasSubstr(":3:14: 'description' must have at most 500 characters"));
}

TEST_F(SkillFolderOnDisk, TOOL_11_ASkillWithMistakesStillCountsAsOne) {
  fs::remove(folder() / "tea/SKILL.md");
  write("tea/pour.md", "Slowly.");

  EXPECT_EQ(problem(), "tea/SKILL.md: there is no such file");
  EXPECT_THAT(load().skills, ElementsAre(Key("tea")));
}

TEST_F(SkillFolderOnDisk, TOOL_11_FilesOfOtherNamesAndSizesAreRefused) {
  for (auto const* const name : {"Pour.md", "pour.txt", "po-ur.md", ".md", "pour", "po ur.md", "skill.MD"}) {
    write(std::string{"tea/"} + name, "x");
    EXPECT_THAT(problem(),
                testing::StartsWith(std::string{"tea/"} + name + ": only SKILL.md and files such"));
    fs::remove(folder() / "tea" / name);
  }
  write("Tea-2/SKILL.md", kGoodCard);
  EXPECT_THAT(problem(), HasSubstr("Tea-2: the folder of a skill must have a name"));
  fs::remove_all(folder() / "Tea-2");
  write("tea/deep.md/x.md", "x");
  EXPECT_EQ(problem(), "tea/deep.md: it is not a file, or it cannot be read");
  fs::remove_all(folder() / "tea/deep.md");
  write("tea/pour.md", std::string(kMostSkillFileBytes, 'x'));
  EXPECT_THAT(load().problems, IsEmpty());
  write("tea/pour.md", std::string(kMostSkillFileBytes + 1, 'x'));
  EXPECT_EQ(problem(), "tea/pour.md: the file has more than 65536 bytes");
  write("tea/pour.md", "\n");
  EXPECT_EQ(problem(), "tea/pour.md: the file is empty");
}

TEST_F(SkillFolderOnDisk, TOOL_11_LinksThatLeaveTheFolderAreRefused) {
  write_at(root / "secret.md", "secret");
  write_at(root / "skills_2/SKILL.md", "secret");
  fs::create_symlink("../../secret.md", folder() / "tea/relative.md");
  fs::create_symlink(root / "secret.md", folder() / "tea/absolute.md");
  fs::create_symlink("SKILL.md", folder() / "tea/inside.md");
  fs::create_symlink("nowhere", folder() / "tea/gone.md");
  fs::create_directory_symlink("../skills_2", folder() / "outside");
  fs::create_directory_symlink("../..", folder() / "tea/up.md");

  auto const loaded = load();

  std::string const at = folder().string() + "/";
  std::string const out = ": it is a link that leads out of the folder of the skills";
  EXPECT_THAT(loaded.problems, ElementsAre(at + "outside" + out, at + "tea/absolute.md" + out,
                                           at + "tea/gone.md: it cannot be read",
                                           at + "tea/relative.md" + out, at + "tea/up.md" + out));
  EXPECT_THAT(loaded.skills.at("tea").actions, ElementsAre(Key("inside")));
  EXPECT_TRUE(loaded.skills.at("outside").content.empty());
}

TEST_F(SkillFolderOnDisk, TOOL_11_TheFolderMustBeThere) {
  auto const gone = (root / "gone").string();
  EXPECT_EQ(read_skill_files(gone).error().detail, gone + ": there is no such folder, or it cannot be read");
  fs::create_directory_symlink(folder(), root / "link");
  EXPECT_THAT(read_skill_files((root / "link").string()).value().skills, ElementsAre("tea"));
}

}  // namespace
}  // namespace runnel::base
