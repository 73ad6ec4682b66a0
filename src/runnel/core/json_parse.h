#pragma once

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace runnel {

// Where a text stops being acceptable JSON and why, in words for whoever sent it.
struct JsonProblem {
  std::string what;
  std::size_t line = 1;
  std::size_t column = 1;    // In characters.
  bool too_complex = false;  // It has more values than were allowed.
};

// "line 3, column 14: a key occurs twice in one object".
std::string to_string(JsonProblem const& problem);

inline constexpr std::size_t kDefaultJsonDepth = 64;

// What a document may take. Its values are all in it that is no punctuation, keys included: they are what
// time and memory go into.
struct JsonLimits {
  std::size_t depth = kDefaultJsonDepth;
  std::size_t values = std::numeric_limits<std::size_t>::max();
};

// The document tree of `text`, without the traps of one: whatever would be dropped, altered or impossible to
// keep is refused. Those are, beside what is no single JSON document: nesting deeper than `max_depth` (at
// once, however deep it is), more values than are allowed (likewise), a key that occurs twice in one object,
// U+0000 (no PostgreSQL text can hold it), a whole number outside 64 signed bits (it would become another
// one; a client that needs it sends a string), and a number beyond a double's range.
std::variant<boost::json::value, JsonProblem> parse_json(std::string_view text, JsonLimits limits);
std::variant<boost::json::value, JsonProblem> parse_json(std::string_view text,
                                                         std::size_t max_depth = kDefaultJsonDepth);

// The same for a text that is kept as it was written and never becomes a tree: numbers keep all their digits
// and escapes stay escapes, so neither can be a problem.
std::optional<JsonProblem> check_json_text(std::string_view text, std::size_t max_depth = kDefaultJsonDepth);

// The tree of a document that this program has stored itself, around documents that were as deep as any is
// let in. None: it is not JSON.
std::optional<boost::json::value> parse_stored_json(std::string_view text);

}  // namespace runnel
