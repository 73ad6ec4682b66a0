#include "runnel/core/json/text.h"

#include "runnel/core/json/parse.h"

namespace runnel {
namespace {

// The place behind the string that begins at `at`.
std::size_t end_of_string(std::string_view valid, std::size_t at) {
  auto const begin = at + 1;
  for (auto quote = valid.find('"', begin);; quote = valid.find('"', quote + 1)) {
    auto first =
        quote;  // Of the backslashes right before the quote: if they are an odd number, it is escaped.
    while (first > begin && valid[first - 1] == '\\')
      --first;
    if ((quote - first) % 2 == 0) return quote + 1;
  }
}

// A valid document without the white space between its tokens. Numbers keep their digits, which a trip
// through a document tree would round.
std::string compact(std::string_view valid) {
  std::string out;
  out.reserve(valid.size());
  for (std::size_t at = 0; at < valid.size();) {
    char const c = valid[at];
    auto const end = c == '"' ? end_of_string(valid, at) : at + 1;
    bool const is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!is_space) out.append(valid, at, end - at);
    at = end;
  }
  return out;
}

}  // namespace

Result<JsonText> JsonText::parse(std::string_view text) {
  if (auto const problem = check_json_text(text))
    return Error{Errc::invalid, "not JSON: " + to_string(*problem)};
  return JsonText{compact(text)};
}

}  // namespace runnel
