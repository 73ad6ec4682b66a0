#include "runnel/core/json/problem.h"

#include <algorithm>
#include <utility>

#include "runnel/core/text/text.h"

namespace runnel {

namespace json = boost::json;

std::string words_for(json::error_code const& error, std::size_t max_depth) {
  if (error == json::error::incomplete) return "the JSON ends too early";
  if (error == json::error::extra_data) return "there is more text after the end of the JSON";
  if (error == json::error::too_deep) return "nested deeper than " + std::to_string(max_depth) + " levels";
  if (error == json::error::illegal_leading_surrogate || error == json::error::illegal_trailing_surrogate ||
      error == json::error::expected_utf16_escape) {
    return "a \\u escape is half of a surrogate pair; the other half is missing";
  }
  if (error == json::error::expected_hex_digit) return "a \\u escape needs four hexadecimal digits";
  return "not valid JSON";
}

JsonProblem problem_at(std::string what, std::string_view text, std::size_t offset) {
  auto const before = text.substr(0, offset);
  auto const line_begin = before.rfind('\n') + 1;  // npos + 1 is 0.
  auto const line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  return {std::move(what), line, count_code_points(before.substr(line_begin)) + 1};
}

std::string to_string(JsonProblem const& problem) {
  return "line " + std::to_string(problem.line) + ", column " + std::to_string(problem.column) + ": " +
         problem.what;
}

}  // namespace runnel
