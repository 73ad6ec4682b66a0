#pragma once

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace runnel {

// Where and why a text is not acceptable JSON, in words for its sender.
struct JsonProblem {
  std::string what;
  std::size_t line = 1;
  std::size_t column = 1;    // In characters.
  bool too_complex = false;  // It has more values than are allowed.
};

// "line 3, column 14: a key occurs twice in one object".
std::string to_string(JsonProblem const& problem);

inline constexpr std::size_t kDefaultJsonDepth = 64;

// The limits of a document. `values` counts every key and every value, objects and arrays included, because
// they determine how much time and memory the document needs.
struct JsonLimits {
  std::size_t depth = kDefaultJsonDepth;
  std::size_t values = std::numeric_limits<std::size_t>::max();
};

// The document tree of `text`. A text is refused if a part of it would be dropped or changed, or could not be
// stored. Besides a text that is not a single JSON document, it refuses: nesting deeper than `max_depth` (as
// soon as the limit is reached), more values than are allowed (likewise), a key that occurs twice in one
// object, U+0000 (PostgreSQL cannot store it in a text), a whole number outside 64 signed bits (it would
// become a different number; a client that needs it sends a string), and a number beyond a double's range.
std::variant<boost::json::value, JsonProblem> parse_json(std::string_view text, JsonLimits limits);
std::variant<boost::json::value, JsonProblem> parse_json(std::string_view text,
                                                         std::size_t max_depth = kDefaultJsonDepth);

// Checks a text that is kept as it was written and never becomes a tree. Numbers keep all their digits and
// escapes stay escapes, so neither can be a problem. The other checks are the same, except that values are
// not counted.
std::optional<JsonProblem> check_json_text(std::string_view text, std::size_t max_depth = kDefaultJsonDepth);

// The tree of a document that this program has stored. It may be nested twice as deep as `kDefaultJsonDepth`,
// because it may contain a document that is itself nested to that depth. Empty if the text is not JSON.
std::optional<boost::json::value> parse_stored_json(std::string_view text);

}  // namespace runnel
