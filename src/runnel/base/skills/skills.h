#pragma once

#include <functional>
#include <map>
#include <string>

namespace runnel::base {

// What a model can read about one subject, such as the calendar (TOOL-11): a card, and a text per action.
struct Skill {
  std::string description;                                  // One line.
  std::string content;                                      // The card's text, without its frontmatter.
  std::map<std::string, std::string, std::less<>> actions;  // Their texts, by name.
};

// Skills by name. They are loaded once and never change after that, so that a name which a model asks for is
// looked up here and never becomes a path.
using Skills = std::map<std::string, Skill, std::less<>>;

}  // namespace runnel::base
