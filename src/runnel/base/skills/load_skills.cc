#include "runnel/base/skills/load_skills.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "runnel/base/yaml/yaml_file.h"
#include "runnel/core/text/text.h"

namespace runnel::base {
namespace {

constexpr std::string_view kCard = "SKILL.md";

bool is_control(char c) {
  auto const byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// The end of the line that begins at `begin`, behind its line break.
std::size_t end_of_line(std::string_view text, std::size_t begin) {
  auto const end = text.find('\n', begin);
  return end == std::string_view::npos ? text.size() : end + 1;
}

bool is_fence(std::string_view line) {
  return line.starts_with("---") && is_blank(line.substr(3));
}

struct CardParts {
  std::string head;  // From the first line, so that places in it are places in the file.
  std::string_view body;
};

// Empty if the text does not begin with a frontmatter.
std::optional<CardParts> split_card(std::string_view text) {
  auto at = end_of_line(text, 0);
  if (!is_fence(text.substr(0, at))) return std::nullopt;
  while (at < text.size()) {
    auto const end = end_of_line(text, at);
    if (is_fence(text.substr(at, end - at)))
      return CardParts{std::string{text.substr(0, at)}, text.substr(end)};
    at = end;
  }
  return std::nullopt;
}

class SkillLoader {
 public:
  explicit SkillLoader(SkillFiles const& files) : files_{files} {}

  LoadedSkills load() {
    for (auto const& [name, why] : files_.refused)
      add_problem(name, why);
    for (auto const& name : files_.skills)
      load_skill(name, loaded_.skills[name]);
    return std::move(loaded_);
  }

 private:
  [[nodiscard]] std::string shown(std::string_view name) const {
    return files_.folder.empty() ? fmt::format("built-in skills/{}", name)
                                 : fmt::format("{}/{}", files_.folder, name);
  }

  void add_problem(std::string_view name, std::string_view what) {
    loaded_.problems.push_back(fmt::format("{}: {}", shown(name), what));
  }
  void add_problem(std::string_view name, std::size_t line, std::string_view what) {
    loaded_.problems.push_back(fmt::format("{}:{}: {}", shown(name), line, what));
  }

  void load_skill(std::string const& name, Skill& skill) {
    auto const prefix = name + "/";
    auto const card = prefix + std::string{kCard};
    if (!files_.texts.contains(card) && !files_.refused.contains(card) && !files_.refused.contains(name))
      add_problem(card, "there is no such file");
    for (auto at = files_.texts.lower_bound(prefix);
         at != files_.texts.end() && at->first.starts_with(prefix); ++at) {
      if (!is_clean(at->first, at->second)) continue;
      if (at->first == card) {
        load_card(card, name, at->second, skill);
      } else {
        load_action(at->first, at->second, skill);
      }
    }
  }

  // The first line that no model should get is enough to find the others.
  bool is_clean(std::string const& file, std::string_view text) {
    std::size_t line = 0;
    for (std::size_t at = 0; at < text.size(); at = end_of_line(text, at)) {
      ++line;
      auto const words = text.substr(at, end_of_line(text, at) - at);
      char const* wrong = nullptr;
      if (!is_utf8(words)) wrong = "the line is not UTF-8";
      bool const odd = std::any_of(words.begin(), words.end(), [](char c) {
        return is_control(c) && c != '\n' && c != '\r' && c != '\t';
      });
      if (odd) wrong = "the line has a control character";
      if (wrong == nullptr) continue;
      add_problem(file, line, wrong);
      return false;
    }
    return true;
  }

  void load_card(std::string const& file, std::string const& name, std::string_view text, Skill& skill) {
    auto const parts = split_card(text);
    if (!parts) {
      add_problem(file, 1, "a skill begins with a line ---, its name, its description and another line ---");
      return;
    }
    YamlFile head{shown(file), &parts->head};
    if (head.map() != nullptr) load_head(head, name, skill);
    auto const lines = head.problems().lines();
    loaded_.problems.insert(loaded_.problems.end(), lines.begin(), lines.end());
    skill.content = strip(parts->body);
    if (skill.content.empty()) add_problem(file, "there is no text below the frontmatter");
  }

  static void load_head(YamlFile& head, std::string const& name, Skill& skill) {
    auto const owner = head.map()->Mark();
    YamlFields const fields{*head.map(), {"name", "description"}, head.problems()};
    auto const written = head.word(fields, "name", owner);
    if (written && written->name != name)
      head.problems().add(written->mark, fmt::format("the name must be '{}', as the folder's is", name));
    auto const described = head.word(fields, "description", owner);
    if (!described) return;
    skill.description = strip(described->name);
    if (std::any_of(skill.description.begin(), skill.description.end(), is_control) ||
        skill.description.empty())
      head.problems().add(described->mark, "'description' must be one line of text");
    if (count_code_points(skill.description) > kMostSkillDescription)
      head.problems().add(described->mark, fmt::format("'description' must have at most {} characters",
                                                       kMostSkillDescription));
  }

  void load_action(std::string const& file, std::string_view text, Skill& skill) {
    auto const begin = file.find('/') + 1;
    auto const action = file.substr(begin, file.size() - begin - std::string_view{".md"}.size());
    auto const content = strip(text);
    if (content.empty()) add_problem(file, "the file is empty");
    skill.actions.emplace(action, content);
  }

  SkillFiles const& files_;
  LoadedSkills loaded_;
};

}  // namespace

LoadedSkills load_skills(SkillFiles const& files) {
  return SkillLoader{files}.load();
}

}  // namespace runnel::base
