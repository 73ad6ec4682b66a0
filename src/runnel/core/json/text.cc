#include "runnel/core/json/text.h"

#include "runnel/core/json/parse.h"

namespace runnel {
namespace {

// A valid document without the white space between its tokens. Numbers keep their digits, which a trip
// through a document tree would round.
std::string compact(std::string_view valid) {
  std::string out;
  out.reserve(valid.size());
  bool in_string = false;
  for (std::size_t at = 0; at < valid.size(); ++at) {
    char const c = valid[at];
    if (!in_string && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) continue;
    out += c;
    if (c == '"') in_string = !in_string;
    if (c == '\\') out += valid[++at];
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
