#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/base/yaml/fields.h"

// Reads the values of configuration files. Each mistake becomes a problem of the file, with its place.
namespace runnel::base {

struct PlacedName {
  std::string name;
  YAML::Mark mark;
};

struct NumberRange {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
};

// A file that holds one map.
class YamlFile {
 public:
  // `shown` is the file's name in messages. `text` is null if the file does not exist or cannot be read.
  YamlFile(std::string shown, std::string const* text);

  [[nodiscard]] YamlProblems& problems() { return problems_; }
  // Null if the file is missing, is not valid YAML or holds no map; then a problem has been added.
  [[nodiscard]] YAML::Node const* map() const { return map_.IsMap() ? &map_ : nullptr; }
  // The whole text of the file.
  [[nodiscard]] std::string const& raw() const { return raw_; }

  // A required single value that must not be empty. Otherwise it adds a problem, and the result is empty. If
  // it is missing, the problem has the place `owner`.
  std::optional<PlacedName> word(YamlFields const& fields, std::string_view key, YAML::Mark const& owner);
  // The same for a value that may be absent.
  std::optional<PlacedName> optional_word(YamlFields const& fields, std::string_view key);
  // The single values of a list that may be absent.
  std::vector<PlacedName> words(YamlFields const& fields, std::string_view key);
  // `value` stays unchanged if the key is absent or has a wrong value.
  void number(YamlFields const& fields, std::string_view key, NumberRange const& range, std::int64_t& value);
  void truth(YamlFields const& fields, std::string_view key, bool& value);

 private:
  void parse(std::string const& text);

  YamlProblems problems_;
  std::string raw_;
  YAML::Node map_;
};

// The place of a byte in a text.
YAML::Mark mark_at(std::string_view raw, std::size_t offset);

// Checks a name that a file gives to something: [a-z][a-z0-9_]*. If it is wrong, adds a problem and returns
// false. `what` is what has the name, such as "a stage".
bool check_name(PlacedName const& name, std::string_view what, YamlProblems& problems);

}  // namespace runnel::base
