#include "runnel/flow/load/conf_file.h"

#include <algorithm>
#include <map>

#include "runnel/core/text/text.h"

namespace runnel::flow {
namespace {

std::size_t offset_of(std::string_view raw, YAML::Mark const& mark) {
  std::size_t offset = 0;
  for (int line = 0; line < mark.line; ++line) {
    auto const end = raw.find('\n', offset);
    if (end == std::string_view::npos) break;
    offset = end + 1;
  }
  return std::min(raw.size(), offset + static_cast<std::size_t>(mark.column));
}

}  // namespace

PlacedText ConfFile::text(base::YamlFields const& fields, std::string_view key, YAML::Mark const& owner) {
  auto const found = word(fields, key, owner);
  if (!found) return {};
  PlacedText placed{Template{std::string{strip(found->name)}}, {}};
  std::map<std::string, std::size_t> occurrences;
  for (auto const& placeholder : placed.text.placeholders()) {
    auto const mark = find_placeholder(found->mark, placeholder.name, occurrences[placeholder.name]++);
    placed.placeholders.push_back({placeholder.name, mark});
  }
  return placed;
}

// In every form of a YAML scalar, placeholders stay whole and in order, so they can be searched for in the
// raw text. But a comment may follow a block's `|`: the search begins after that line.
YAML::Mark ConfFile::find_placeholder(YAML::Mark const& begin, std::string const& name,
                                      std::size_t occurrence) const {
  auto const written = "{" + name + "}";
  auto from = offset_of(raw(), begin);
  if (from < raw().size() && (raw()[from] == '|' || raw()[from] == '>')) from = raw().find('\n', from);
  auto offset = raw().find(written, from);
  for (; occurrence > 0 && offset != std::string::npos; --occurrence)
    offset = raw().find(written, offset + 1);
  return offset == std::string::npos ? begin : base::mark_at(raw(), offset);
}

}  // namespace runnel::flow
