#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "runnel/base/skills/load_skills.h"
#include "runnel/base/yaml/yaml_folder.h"

namespace runnel::base {
namespace {

namespace fs = std::filesystem;

bool is_skill_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostSkillNameBytes &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

bool is_skill_file_name(std::string_view name) {
  if (name == "SKILL.md") return true;
  return name.ends_with(".md") && is_skill_name(name.substr(0, name.size() - 3));
}

// The names in a folder, in alphabetical order. Empty if it cannot be read.
std::optional<std::vector<std::string>> names_in(fs::path const& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at{folder, error}, end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  if (error) return std::nullopt;
  std::sort(names.begin(), names.end());
  return names;
}

class SkillFolder {
 public:
  SkillFolder(std::string const& folder, fs::path real) : real_{std::move(real)} { files_.folder = folder; }

  SkillFiles read(std::vector<std::string> const& names) {
    for (auto const& name : names) {
      std::error_code error;
      if (!name.starts_with('.') && fs::is_directory(real_ / name, error)) read_skill(name);
    }
    return std::move(files_);
  }

 private:
  void refuse(std::string const& name, std::string why) { files_.refused.emplace(name, std::move(why)); }

  // Where the entry really is. Empty if that is not in the folder; then it has been refused.
  std::optional<fs::path> inside(std::string const& name) {
    std::error_code error;
    auto const path = fs::canonical(real_ / name, error);
    if (error) {
      refuse(name, "it cannot be read");
      return std::nullopt;
    }
    auto const [in_path, in_folder] = std::mismatch(path.begin(), path.end(), real_.begin(), real_.end());
    if (in_folder == real_.end()) return path;
    refuse(name, "it is a link that leads out of the folder of the skills");
    return std::nullopt;
  }

  void read_skill(std::string const& name) {
    if (!is_skill_name(name)) {
      refuse(name,
             fmt::format("the folder of a skill must have a name of at most {} characters from a-z, 0-9 "
                         "and _",
                         kMostSkillNameBytes));
      return;
    }
    files_.skills.insert(name);
    auto const path = inside(name);
    if (!path) return;
    auto const names = names_in(*path);
    if (!names) {
      refuse(name, "the folder cannot be read");
      return;
    }
    for (auto const& file : *names)
      read_file(fmt::format("{}/{}", name, file), file);
  }

  void read_file(std::string const& name, std::string_view file) {
    if (!is_skill_file_name(file)) {
      refuse(name, "only SKILL.md and files such as read.md belong here, with names from a-z, 0-9 and _");
      return;
    }
    auto const path = inside(name);
    if (!path) return;
    std::error_code error;
    if (fs::is_regular_file(*path, error) && fs::file_size(*path, error) > kMostSkillFileBytes) {
      refuse(name, fmt::format("the file has more than {} bytes", kMostSkillFileBytes));
    } else if (auto text = read_text_file(path->string())) {
      files_.texts.emplace(name, std::move(*text));
    } else {
      refuse(name, "it is not a file, or it cannot be read");
    }
  }

  fs::path real_;
  SkillFiles files_;
};

}  // namespace

Result<SkillFiles> read_skill_files(std::string const& folder) {
  std::error_code error;
  auto real = fs::canonical(folder, error);
  auto const names = error ? std::nullopt : names_in(real);
  if (!names)
    return Error{Errc::invalid, fmt::format("{}: there is no such folder, or it cannot be read", folder)};
  return SkillFolder{folder, std::move(real)}.read(*names);
}

}  // namespace runnel::base
