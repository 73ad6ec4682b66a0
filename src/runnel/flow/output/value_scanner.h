#pragma once

#include <cstddef>
#include <string_view>

namespace runnel::flow {

// Finds the end of a JSON value that is still being written. It looks only at strings and brackets, so the
// value must still be parsed; if it is valid JSON, this is its end.
class ValueScanner {
 public:
  // Returns how many bytes of the piece belong to the value: all of them while it is not complete. The
  // value's first byte must not be a blank.
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
