#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace runnel::flow {

// A text with `{placeholders}`, as in CrewAI's files: a name in braces, of letters, digits, `_` and `.`,
// beginning with a letter or `_`. All other braces are plain text.
class Template {
 public:
  struct Placeholder {
    std::string name;
    std::size_t offset = 0;  // Of its opening brace in the text.
  };

  Template() = default;
  explicit Template(std::string text);

  [[nodiscard]] std::string const& text() const { return text_; }
  [[nodiscard]] std::vector<Placeholder> const& placeholders() const { return placeholders_; }

  // The text with each placeholder replaced by `value(name)`. Placeholders in a value are not replaced.
  [[nodiscard]] std::string render(std::function<std::string(std::string_view name)> const& value) const;

 private:
  std::string text_;
  std::vector<Placeholder> placeholders_;
};

}  // namespace runnel::flow
