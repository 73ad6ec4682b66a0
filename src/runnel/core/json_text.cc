#include "runnel/core/json_text.h"

#include <boost/json/basic_parser_impl.hpp>

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace runnel {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxDepth = 64;

// Looks for what Boost's document tree would hide: a key that occurs twice in one object. Keys are compared
// unescaped.
struct KeyCheck {
  static constexpr std::size_t max_object_size = SIZE_MAX;
  static constexpr std::size_t max_array_size = SIZE_MAX;
  static constexpr std::size_t max_key_size = SIZE_MAX;
  static constexpr std::size_t max_string_size = SIZE_MAX;

  std::vector<std::unordered_set<std::string>> objects;
  std::string key;

  bool on_object_begin(json::error_code&) {
    objects.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) {
    objects.pop_back();
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    key.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code& error) {
    key.append(part.data(), part.size());
    if (!objects.back().insert(std::move(key)).second) error = json::error::syntax;
    key.clear();
    return !error;
  }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t, json::error_code&) { return true; }
  bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_string(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, json::error_code&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return true; }
  bool on_double(double, json::string_view, json::error_code&) { return true; }
  bool on_bool(bool, json::error_code&) { return true; }
  bool on_null(json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

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
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::basic_parser<KeyCheck> parser{options};
  json::error_code error;
  auto const used = parser.write_some(false, text.data(), text.size(), error);
  if (error) return Error{Errc::invalid, "not JSON: " + error.message()};
  if (used != text.size()) return Error{Errc::invalid, "more than one JSON document"};
  return JsonText{compact(text)};
}

}  // namespace runnel
