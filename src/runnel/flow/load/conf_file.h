#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/base/yaml/fields.h"
#include "runnel/flow/prompt/template.h"

// Reads the values of configuration files. Each mistake becomes a problem of the file, with its place.
namespace runnel::flow {

struct PlacedName {
  std::string name;
  YAML::Mark mark;
};

// A text, and the places of its placeholders in the file.
struct PlacedText {
  Template text;
  std::vector<PlacedName> placeholders;
};

struct Range {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
};

// A file that holds one map.
class ConfFile {
 public:
  // `shown` is the file's name in messages. `text` is null if the file does not exist or cannot be read.
  ConfFile(std::string shown, std::string const* text);

  [[nodiscard]] base::YamlProblems& problems() { return problems_; }
  // Null if the file is missing, is not valid YAML or holds no map; then a problem has been added.
  [[nodiscard]] YAML::Node const* map() const { return map_.IsMap() ? &map_ : nullptr; }

  // A required text, without the blanks around it. If it is missing, the problem has the place `owner`.
  PlacedText text(base::YamlFields const& fields, std::string_view key, YAML::Mark const& owner);
  // A required single value that must not be empty. Otherwise it adds a problem, and the result is empty.
  std::optional<PlacedName> word(base::YamlFields const& fields, std::string_view key,
                                 YAML::Mark const& owner);
  // The same for a value that may be absent.
  std::optional<PlacedName> optional_word(base::YamlFields const& fields, std::string_view key);
  // The single values of a list that may be absent.
  std::vector<PlacedName> words(base::YamlFields const& fields, std::string_view key);
  // `value` stays unchanged if the key is absent or has a wrong value.
  void number(base::YamlFields const& fields, std::string_view key, Range const& range, std::int64_t& value);
  void truth(base::YamlFields const& fields, std::string_view key, bool& value);

 private:
  void parse(std::string const& text);
  [[nodiscard]] YAML::Mark find_placeholder(YAML::Mark const& begin, std::string const& name,
                                            std::size_t occurrence) const;

  base::YamlProblems problems_;
  std::string raw_;
  YAML::Node map_;
};

// Checks the name of a flow, stage, agent or task: [a-z][a-z0-9_]*. If it is wrong, adds a problem and
// returns false.
bool check_name(PlacedName const& name, std::string_view what, base::YamlProblems& problems);

}  // namespace runnel::flow
