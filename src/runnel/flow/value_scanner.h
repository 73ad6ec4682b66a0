#pragma once

#include <cstddef>
#include <string_view>

namespace runnel::flow {

// Where a JSON value ends, while it is still being written. It looks at strings and brackets only: the value
// is still to be parsed, and where it is valid JSON, this is its end.
class ValueScanner {
 public:
  // How many bytes of the piece belong to the value: all of them while it is not complete. The value's first
  // byte must be no blank.
  std::size_t feed(std::string_view piece);

  // A number or a literal is complete only when something comes after it.
  [[nodiscard]] bool is_complete() const { return complete_; }

 private:
  // Whether the byte belongs to the value.
  bool take(char c);
  void take_in_string(char c);

  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool complete_ = false;
};

}  // namespace runnel::flow
