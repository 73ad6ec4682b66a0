#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "runnel/core/error.h"

namespace runnel {

// One JSON document on one line, known to be valid: it can be put on a wire as it is. The only ways to get
// one are a parse and the constants, so text that came from a model or a tool cannot break a frame.
class JsonText {
 public:
  JsonText() : text_{"null"} {}

  // Fails with `invalid` if `text` is not a single JSON document, is nested deeper than 64 levels, or repeats
  // a key in one object.
  static Result<JsonText> parse(std::string_view text);
  static JsonText empty_object() { return JsonText{"{}"}; }

  [[nodiscard]] std::string const& str() const { return text_; }
  [[nodiscard]] bool is_null() const { return text_ == "null"; }
  [[nodiscard]] bool is_object() const { return text_.starts_with('{'); }
  bool operator==(JsonText const&) const = default;

 private:
  explicit JsonText(std::string text) : text_{std::move(text)} {}

  std::string text_;
};

}  // namespace runnel
