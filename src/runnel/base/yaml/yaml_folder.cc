#include "runnel/base/yaml/yaml_folder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace runnel::base {

namespace fs = std::filesystem;

std::optional<std::vector<std::string>> yaml_files_in(std::string const& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at{folder, error}, end; !error && at != end; at.increment(error)) {
    auto const kind = at->path().extension();
    if (kind == ".yaml" || kind == ".yml") names.push_back(at->path().filename().string());
  }
  if (error) return std::nullopt;
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> read_text_file(std::string const& path) {
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

}  // namespace runnel::base
