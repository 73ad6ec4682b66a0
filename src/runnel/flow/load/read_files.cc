#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "runnel/base/yaml/yaml_folder.h"
#include "runnel/flow/load/loader.h"

namespace runnel::flow {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kSingleFiles{"agents.yaml", "tasks.yaml", "system_agents.yaml",
                                                       "contracts.yaml", "prompts.yaml"};

std::vector<std::string> flow_names(fs::path const& folder) {
  auto names = base::yaml_files_in((folder / "flows").string()).value_or(std::vector<std::string>{});
  for (auto& name : names)
    name.insert(0, "flows/");
  return names;
}

void read_into(Files& files, fs::path const& folder, std::string const& name) {
  if (auto text = base::read_text_file((folder / name).string())) {
    files.texts.emplace(name, std::move(*text));
  } else {
    files.unreadable.push_back(name);
  }
}

}  // namespace

Result<Files> read_files(std::string const& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return Error{Errc::invalid, fmt::format("{}: there is no such folder, or it cannot be read", folder)};
  auto names = flow_names(folder);
  for (auto const name : kSingleFiles) {
    if (fs::exists(fs::path{folder} / name, error)) names.emplace_back(name);
  }
  Files files;
  files.folder = folder;
  for (auto const& name : names)
    read_into(files, folder, name);
  return files;
}

}  // namespace runnel::flow
