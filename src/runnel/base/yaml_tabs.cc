#include "runnel/base/yaml_tabs.h"

namespace runnel::base {

std::optional<std::size_t> line_indented_by_tab(std::string_view text) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    auto const end = text.find('\n');
    auto const content = text.substr(0, end);
    auto const first = content.find_first_not_of(" \t\r");
    bool const says_something = first != std::string_view::npos && content[first] != '#';
    if (says_something && content.substr(0, first).find('\t') != std::string_view::npos) return line;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::nullopt;
}

}  // namespace runnel::base
