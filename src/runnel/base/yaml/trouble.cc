#include "runnel/base/yaml/trouble.h"

#include <yaml-cpp/depthguard.h>

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace runnel::base {
namespace {

namespace says = YAML::ErrorMsg;

// The first line, counted from 0, that is indented by a tab, which YAML forbids.
std::optional<int> line_indented_by_tab(std::string_view text) {
  for (int line = 0; !text.empty(); ++line) {
    auto const end = text.find('\n');
    auto const content = text.substr(0, end);
    auto const first = content.find_first_not_of(" \t\r");
    bool const says_something = first != std::string_view::npos && content[first] != '#';
    if (says_something && content.substr(0, first).find('\t') != std::string_view::npos) return line;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::nullopt;
}

// How the parser's message begins, and what it means.
struct Words {
  std::string_view parser;
  std::string_view plain;
};

std::string plain_words(std::string const& message) {
  static std::array const kWords{
      Words{says::END_OF_MAP_FLOW, "a '{' is not closed by '}' up to here, or a ',' is missing"},
      Words{says::END_OF_SEQ_FLOW, "a '[' is not closed by ']' up to here, or a ',' is missing"},
      Words{
          says::END_OF_MAP,
          "this line does not continue the map above it; check its indentation, and that it is 'key: value'"},
      Words{says::END_OF_SEQ,
            "this line does not continue the list above it; check its indentation, and that it begins with "
            "'- '"},
      Words{says::MAP_VALUE,
            "a ':' is not allowed here; check the indentation, and put quotes around a text that has ': ' in "
            "it"},
      Words{says::BLOCK_ENTRY, "a '- ' is not allowed here; check the indentation"},
      Words{says::MAP_KEY, "a '?' is not allowed here; put quotes around the text"},
      Words{says::FLOW_END, "this ']' or '}' closes nothing"},
      Words{says::EOF_IN_SCALAR, "a quote is not closed"},
      Words{says::DOC_IN_SCALAR, "a quote is not closed before the '---' or '...' here"},
      Words{says::UNKNOWN_TOKEN, "no value begins with this character; put quotes around the text"},
      Words{says::INVALID_ESCAPE,
            "this escape is not known; in double quotes write a backslash twice, or use single quotes"},
      Words{says::UNKNOWN_ANCHOR, "this '*name' refers to a '&name' that is not above it"},
  };
  for (auto const& [parser, plain] : kWords) {
    if (message.starts_with(parser)) return std::string{plain};
  }
  return message;
}

}  // namespace

YamlTrouble explain_yaml(YAML::Exception const& error, std::string_view text) {
  if (dynamic_cast<YAML::DeepRecursion const*>(&error) != nullptr) return {error.mark, "nested too deeply"};
  auto const tab = line_indented_by_tab(text);
  if (!tab) return {error.mark, plain_words(error.msg)};
  auto mark = error.mark;
  mark.line = *tab;
  mark.column = 0;
  return {mark, "tab used for indentation; YAML takes spaces only"};
}

}  // namespace runnel::base
