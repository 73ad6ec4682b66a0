#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/base/yaml/yaml_file.h"
#include "runnel/flow/prompt/template.h"

namespace runnel::flow {

using base::PlacedName;

// A text, and the places of its placeholders in the file.
struct PlacedText {
  Template text;
  std::vector<PlacedName> placeholders;
};

// A file whose texts may have placeholders.
class ConfFile : public base::YamlFile {
 public:
  using base::YamlFile::YamlFile;

  // A required text, without the blanks around it. If it is missing, the problem has the place `owner`.
  PlacedText text(base::YamlFields const& fields, std::string_view key, YAML::Mark const& owner);

 private:
  [[nodiscard]] YAML::Mark find_placeholder(YAML::Mark const& begin, std::string const& name,
                                            std::size_t occurrence) const;
};

}  // namespace runnel::flow
