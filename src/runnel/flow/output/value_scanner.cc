#include "runnel/flow/output/value_scanner.h"

#include "runnel/flow/output/json_blank.h"

namespace runnel::flow {

std::size_t ValueScanner::feed(std::string_view piece) {
  std::size_t taken = 0;
  while (taken < piece.size() && !complete_) {
    if (take(piece[taken])) ++taken;
  }
  return taken;
}

bool ValueScanner::take(char c) {
  if (in_string_) {
    take_in_string(c);
    return true;
  }
  if (c == '"') {
    in_string_ = true;
    return true;
  }
  if (c == '{' || c == '[') {
    ++depth_;
    return true;
  }
  bool const closes = c == '}' || c == ']';
  if (depth_ == 0 && (closes || c == ',' || is_json_blank(c))) {
    complete_ = true;  // The value is a number or a literal.
    return false;
  }
  if (closes && --depth_ == 0) complete_ = true;
  return true;
}

void ValueScanner::take_in_string(char c) {
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
    complete_ = depth_ == 0;
  }
}

}  // namespace runnel::flow
