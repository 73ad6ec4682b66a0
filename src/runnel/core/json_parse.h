#pragma once

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace runnel {

// Where a text stops being acceptable JSON and why, in words for whoever sent it.
struct JsonProblem {
  std::string what;
  std::size_t line = 1;
  std::size_t column = 1;  // In characters.
};

// "line 3, column 14: a key occurs twice in one object".
std::string to_string(JsonProblem const& problem);

inline constexpr std::size_t kDefaultJsonDepth = 64;

// The document tree of `text`, without the traps of one: whatever would be dropped, altered or impossible to
// keep is refused. Those are, beside what is no single JSON document: nesting deeper than `max_depth` (at
// once, however deep it is), a key that occurs twice in one object, U+0000 (no PostgreSQL text can hold it),
// a whole number outside 64 signed bits (it would become another one; a client that needs it sends a string),
// and a number beyond a double's range.
std::variant<boost::json::value, JsonProblem> parse_json(std::string_view text,
                                                         std::size_t max_depth = kDefaultJsonDepth);

// The same for a text that is kept as it was written and never becomes a tree: numbers keep all their digits
// and escapes stay escapes, so neither can be a problem.
std::optional<JsonProblem> check_json_text(std::string_view text, std::size_t max_depth = kDefaultJsonDepth);

// The tree of a document that this program has stored itself, around documents that were as deep as any is
// let in. None: it is not JSON.
std::optional<boost::json::value> parse_stored_json(std::string_view text);

}  // namespace runnel
