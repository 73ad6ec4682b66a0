#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/base/yaml_fields.h"
#include "runnel/flow/template.h"

// Reading the values of configuration files; what is wrong becomes a problem of the file, with its place.
namespace runnel::flow {

struct PlacedName {
  std::string name;
  YAML::Mark mark;
};

// A text, and where its placeholders stand in the file.
struct PlacedText {
  Template text;
  std::vector<PlacedName> placeholders;
};

struct Range {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
};

// One file with a map in it.
class ConfFile {
 public:
  // `shown`: its name in messages. `text` is null where there is no such file or it cannot be read.
  ConfFile(std::string shown, std::string const* text);

  [[nodiscard]] base::YamlProblems& problems() { return problems_; }
  // Null: the file is missing, is no YAML or has no map; that is a problem already.
  [[nodiscard]] YAML::Node const* map() const { return map_.IsMap() ? &map_ : nullptr; }

  // A text that must be there, told at `owner` if it is not; blanks around it are left out.
  PlacedText text(base::YamlFields const& fields, std::string_view key, YAML::Mark const& owner);
  // A single value that must be there and must not be empty; where it is not: a problem, and none.
  std::optional<PlacedName> word(base::YamlFields const& fields, std::string_view key,
                                 YAML::Mark const& owner);
  // The same, where it may be left out.
  std::optional<PlacedName> optional_word(base::YamlFields const& fields, std::string_view key);
  // The single values of a list, which may be left out.
  std::vector<PlacedName> words(base::YamlFields const& fields, std::string_view key);
  // `value` stays as it is where there is none or a wrong one.
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

// [a-z][a-z0-9_]*, as flows, stages, agents and tasks are called; false: it is not, which is a problem.
bool check_name(PlacedName const& name, std::string_view what, base::YamlProblems& problems);

}  // namespace runnel::flow
