#include "runnel/flow/prompt/template.h"

#include <utility>

namespace runnel::flow {
namespace {

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool continues_name(char c) {
  return begins_name(c) || (c >= '0' && c <= '9') || c == '.';
}

// The name in the braces that open at `brace`; empty if they are plain text.
std::string_view name_at(std::string_view text, std::size_t brace) {
  auto end = brace + 1;
  if (end == text.size() || !begins_name(text[end])) return {};
  while (end < text.size() && continues_name(text[end]))
    ++end;
  if (end == text.size() || text[end] != '}') return {};
  return text.substr(brace + 1, end - brace - 1);
}

}  // namespace

Template::Template(std::string text) : text_{std::move(text)} {
  for (auto brace = text_.find('{'); brace != std::string::npos; brace = text_.find('{', brace + 1)) {
    auto const name = name_at(text_, brace);
    if (!name.empty()) placeholders_.push_back({std::string{name}, brace});
  }
}

std::string Template::render(std::function<std::string(std::string_view name)> const& value) const {
  std::string out;
  std::size_t done = 0;
  for (auto const& placeholder : placeholders_) {
    out.append(text_, done, placeholder.offset - done);
    out += value(placeholder.name);
    done = placeholder.offset + placeholder.name.size() + 2;
  }
  return out.append(text_, done);
}

}  // namespace runnel::flow
