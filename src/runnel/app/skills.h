#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runnel/app/settings/settings.h"
#include "runnel/base/skills/load_skills.h"

namespace runnel::app {

// The files in skills/, as they were when the binary was built.
base::SkillFiles built_in_skills();

struct SkillsOfSettings {
  std::shared_ptr<base::Skills const> skills;  // Null if the folder cannot be read.
  std::vector<std::string> problems;           // One line per mistake, for the operator.
};

// The skills in the folder that the settings name, or the built-in skills.
SkillsOfSettings load_skills(Settings const& settings);

// Their names and where they are from.
std::string skills_in_words(Settings const& settings, base::Skills const& skills);

}  // namespace runnel::app
