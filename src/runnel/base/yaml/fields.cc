#include "runnel/base/yaml/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runnel/base/nearest_name.h"

namespace runnel::base {

void YamlProblems::add(YAML::Mark const& mark, std::string_view what) {
  auto line = mark.is_null() ? fmt::format("{}: {}", file_, what)
                             : fmt::format("{}:{}:{}: {}", file_, mark.line + 1, mark.column + 1, what);
  if (told_.insert(line).second) problems_.push_back({mark.line, mark.column, std::move(line)});
}

void YamlProblems::add_once(YAML::Mark const& mark, std::string_view what) {
  bool const told = std::any_of(problems_.begin(), problems_.end(), [&](Problem const& problem) {
    return problem.line == mark.line && problem.column == mark.column;
  });
  if (!told) add(mark, what);
}

std::vector<std::string> YamlProblems::lines() const {
  auto sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](Problem const& a, Problem const& b) {
    return std::pair{a.line, a.column} < std::pair{b.line, b.column};
  });
  std::vector<std::string> lines;
  lines.reserve(sorted.size());
  for (auto& problem : sorted)
    lines.push_back(std::move(problem.text));
  return lines;
}

Error YamlProblems::error() const {
  return {Errc::invalid, fmt::format("{}", fmt::join(lines(), "\n"))};
}

YamlFields::YamlFields(YAML::Node const& map, std::initializer_list<std::string_view> known,
                       YamlProblems& problems)
    : problems_{problems} {
  auto const before = problems.count();
  for_each_member(map, problems, [&](YAML::Node const& key, YAML::Node const& value) {
    if (std::find(known.begin(), known.end(), key.Scalar()) == known.end()) {
      std::vector<std::string> const names{known.begin(), known.end()};
      problems.add(key, fmt::format("unknown key '{}'; known here: {}{}", key.Scalar(),
                                    fmt::join(known, ", "), did_you_mean(key.Scalar(), names)));
    } else {
      nodes_.emplace(key.Scalar(), value);
    }
  });
  keys_unclear_ = problems.count() != before;
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

}  // namespace runnel::base
