#include "runnel/runtime/execution/tool_hint.h"

#include <cctype>
#include <cstddef>
#include <vector>

namespace runnel::runtime {

namespace {

// Where the text has the word with nothing around it that could belong to it.
std::size_t find_word(std::string_view text, std::string_view word) {
  auto const belongs = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (!belongs(at - 1) && !belongs(at + word.size())) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::string method_named_in(std::string_view result, flow::Stage const& next, tools::Toolbox const& tools) {
  std::string found;
  auto first = std::string_view::npos;
  for (auto const& name : next.tools) {
    auto const* const tool = tools.find(name);
    for (auto const& method : tool != nullptr ? tool->methods() : std::vector<std::string>{}) {
      auto const at = find_word(result, method);
      if (at >= first) continue;
      first = at;
      found = method;
    }
  }
  return found;
}

}  // namespace runnel::runtime
