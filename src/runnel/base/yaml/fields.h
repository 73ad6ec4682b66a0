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

// Reads a YAML file so that its author learns of all mistakes at once, each with its place.
namespace runnel::base {

class YamlProblems {
 public:
  explicit YamlProblems(std::string file) : file_{std::move(file)} {}

  // A problem in a part that is used twice, through an alias, is reported once.
  void add(YAML::Mark const& mark, std::string_view what);
  void add(YAML::Node const& node, std::string_view what) { add(node.Mark(), what); }
  // Adds the problem only if that place has none yet, so that one mistake with many symptoms is reported
  // once.
  void add_once(YAML::Mark const& mark, std::string_view what);

  [[nodiscard]] bool any() const { return !problems_.empty(); }
  [[nodiscard]] std::size_t count() const { return problems_.size(); }
  // One line per problem, with its place, in the order of the file.
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
  // It is a problem if `map` is not a map, or if a key is not in `known` or occurs twice.
  YamlFields(YAML::Node const& map, std::initializer_list<std::string_view> known, YamlProblems& problems);

  [[nodiscard]] bool has(std::string_view key) const { return nodes_.contains(key); }
  // Whether the map's keys have a problem. If so, a key that seems to be missing may be mistyped.
  [[nodiscard]] bool keys_unclear() const { return keys_unclear_; }
  // Null if the map has no such key.
  [[nodiscard]] YAML::Node const* find(std::string_view key) const;
  // A single value. Empty if the key is absent, or if its value is a list or a map, which is a problem.
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  // The values of a list. Empty if the key is absent, or if its value is not a list, which is a problem.
  [[nodiscard]] std::vector<YAML::Node> list(std::string_view key) const;

 private:
  YamlProblems& problems_;
  std::map<std::string, YAML::Node, std::less<>> nodes_;
  bool keys_unclear_ = false;
};

// Calls `member(key, value)` for each member of a map, in the order of the file. It is a problem if `map` is
// not a map, or if a key is not a single word or occurs twice.
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
