#include "runnel/model/yaml_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace runnel::model {

void YamlProblems::add(YAML::Mark const& mark, std::string_view what) {
  auto line = mark.is_null() ? fmt::format("{}: {}", file_, what)
                             : fmt::format("{}:{}:{}: {}", file_, mark.line + 1, mark.column + 1, what);
  if (told_.insert(line).second) lines_.push_back(std::move(line));
}

Error YamlProblems::error() const {
  return {Errc::invalid, fmt::format("{}", fmt::join(lines_, "\n"))};
}

YamlFields::YamlFields(YAML::Node const& map, std::initializer_list<std::string_view> known,
                       YamlProblems& problems)
    : problems_{problems} {
  for_each_member(map, problems, [&](YAML::Node const& key, YAML::Node const& value) {
    if (std::find(known.begin(), known.end(), key.Scalar()) == known.end()) {
      problems.add(key,
                   fmt::format("unknown key '{}'; known here: {}", key.Scalar(), fmt::join(known, ", ")));
    } else {
      nodes_.emplace(key.Scalar(), value);
    }
  });
}

YAML::Node const* YamlFields::find(std::string_view key) const {
  auto const it = nodes_.find(key);
  return it == nodes_.end() ? nullptr : &it->second;
}

std::optional<std::string> YamlFields::text(std::string_view key) const {
  auto const* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->IsScalar()) return node->Scalar();
  problems_.add(*node, fmt::format("'{}' must be a single value", key));
  return std::nullopt;
}

std::vector<YAML::Node> YamlFields::list(std::string_view key) const {
  auto const* node = find(key);
  if (node == nullptr) return {};
  if (node->IsSequence()) return std::vector<YAML::Node>(node->begin(), node->end());
  problems_.add(*node, fmt::format("'{}' must be a list", key));
  return {};
}

}  // namespace runnel::model
