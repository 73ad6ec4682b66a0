#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runnel/base/skills/skills.h"
#include "runnel/core/error.h"

namespace runnel::base {

inline constexpr std::size_t kMostSkillFileBytes = std::size_t{64} * 1024;
inline constexpr std::size_t kMostSkillNameBytes = 64;
inline constexpr std::size_t kMostSkillDescription = 500;  // Characters: every prompt has all descriptions.

// The files of a folder with skills, by their names in it: "contacts/SKILL.md", "contacts/read.md".
struct SkillFiles {
  std::string folder;  // For messages; empty for the built-in files.
  std::set<std::string, std::less<>> skills;
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, std::string, std::less<>> refused;  // What was not read, and why.
};

// Reads the subfolders of a folder. Files beside them and hidden entries are ignored. A file that is too
// large, that has another name than SKILL.md or ACTION.md, or that is reached through a link out of the
// folder is refused. Fails with `invalid` if the folder itself cannot be read.
Result<SkillFiles> read_skill_files(std::string const& folder);

struct LoadedSkills {
  Skills skills;                      // All that have a folder, also those with mistakes.
  std::vector<std::string> problems;  // All mistakes, one line each, with the file, and the line if known.
};

LoadedSkills load_skills(SkillFiles const& files);

}  // namespace runnel::base
