#pragma once

#include <string>
#include <utility>

namespace runnel::model {

// A text that must not be shown. It can get into a log, a message or a comparison only by `reveal()`, and all
// uses of `reveal()` can be found by its name.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_{std::move(text)} {}

  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string const& reveal() const { return text_; }

 private:
  std::string text_;
};

}  // namespace runnel::model
