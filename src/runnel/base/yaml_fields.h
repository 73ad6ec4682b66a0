#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"

// Reading a YAML file so that whoever wrote it learns all mistakes at once, each with its place.
namespace runnel::base {

class YamlProblems {
 public:
  explicit YamlProblems(std::string file) : file_{std::move(file)} {}

  // A part that is used twice, by an alias, is told of once.
  void add(YAML::Mark const& mark, std::string_view what);
  void add(YAML::Node const& node, std::string_view what) { add(node.Mark(), what); }
  // Only where nothing has been said of that place: of one mistake that shows in many ways, the first.
  void add_once(YAML::Mark const& mark, std::string_view what);

  [[nodiscard]] bool any() const { return !problems_.empty(); }
  [[nodiscard]] std::size_t count() const { return problems_.size(); }
  // One each, with its place, in the order of the file.
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] Error error() const;
  [[nodiscard]] std::string const& file() const { return file_; }

 private:
  struct Problem {
    int line = 0;
    int column = 0;
    std::string text;
  };

  std::string file_;
  std::vector<Problem> problems_;
  std::set<std::string, std::less<>> told_;
};

// The members of one map.
class YamlFields {
 public:
  // What is no map, and keys that are not `known` or occur twice, become problems.
  YamlFields(YAML::Node const& map, std::initializer_list<std::string_view> known, YamlProblems& problems);

  [[nodiscard]] bool has(std::string_view key) const { return nodes_.contains(key); }
  // Whether the map itself has a problem; then a key that is missing may be a mistyped one.
  [[nodiscard]] bool keys_unclear() const { return keys_unclear_; }
  // Null: the map has none.
  [[nodiscard]] YAML::Node const* find(std::string_view key) const;
  // A single value; none where it is absent, or is a list or a map, which is a problem.
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  // The values of a list, which may be left out; other things become problems.
  [[nodiscard]] std::vector<YAML::Node> list(std::string_view key) const;

 private:
  YamlProblems& problems_;
  std::map<std::string, YAML::Node, std::less<>> nodes_;
  bool keys_unclear_ = false;
};

// Calls `member(key, value)` for each member of a map, in the file's order; what is no map and a key that
// occurs twice become problems.
template <class Member>
void for_each_member(YAML::Node const& map, YamlProblems& problems, Member member) {
  if (!map.IsMap()) {
    problems.add(map, "expected a map");
    return;
  }
  std::set<std::string, std::less<>> seen;
  for (auto const& pair : map) {
    if (!pair.first.IsScalar()) {
      problems.add(pair.first, "a key must be a single word");
    } else if (!seen.insert(pair.first.Scalar()).second) {
      problems.add(pair.first, "'" + pair.first.Scalar() + "' is set twice");
    } else {
      member(pair.first, pair.second);
    }
  }
}

}  // namespace runnel::base
