#include "runnel/app/skills.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "skill_files.inc"

namespace runnel::app {

base::SkillFiles built_in_skills() {
  base::SkillFiles files;
  for (auto const& [name, text] : kSkillFiles) {
    files.skills.emplace(name.substr(0, name.find('/')));
    files.texts.emplace(name, text);
  }
  return files;
}

SkillsOfSettings load_skills(Settings const& settings) {
  SkillsOfSettings out;
  auto const files = settings.skills_dir.empty() ? Result<base::SkillFiles>{built_in_skills()}
                                                 : base::read_skill_files(settings.skills_dir);
  if (!files) {
    out.problems.push_back("skills.dir: " + files.error().detail);
    return out;
  }
  auto loaded = base::load_skills(*files);
  out.skills = std::make_shared<base::Skills const>(std::move(loaded.skills));
  out.problems = std::move(loaded.problems);
  return out;
}

std::string skills_in_words(Settings const& settings, base::Skills const& skills) {
  std::vector<std::string> names;
  for (auto const& [name, skill] : skills)
    names.push_back(name);
  return fmt::format("{}; {}", names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                     settings.skills_dir.empty() ? "built in" : "from " + settings.skills_dir);
}

}  // namespace runnel::app
