#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "runnel/flow/load/loader.h"

namespace runnel::flow {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kSingleFiles{"agents.yaml", "tasks.yaml", "system_agents.yaml",
                                                       "contracts.yaml", "prompts.yaml"};

bool is_yaml(fs::path const& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

std::vector<std::string> flow_names(fs::path const& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at{folder / "flows", error}, end; !error && at != end; at.increment(error)) {
    if (is_yaml(at->path())) names.push_back("flows/" + at->path().filename().string());
  }
  return names;
}

// Empty if it is not a regular file or reading it fails.
std::optional<std::string> read_text(fs::path const& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file{path, std::ios::binary};
  std::string text;
  std::array<char, std::size_t{64} * 1024> part{};
  do {
    file.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  } while (file.good());
  if (!file.is_open() || file.bad()) return std::nullopt;
  return text;
}

void read_into(Files& files, fs::path const& folder, std::string const& name) {
  if (auto text = read_text(folder / name)) {
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
