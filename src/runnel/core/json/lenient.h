#pragma once

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string_view>
#include <variant>

#include "runnel/core/json/parse.h"

namespace runnel {

// The document tree of a text that a model wrote. Unlike parse_json, it accepts faults that are no reason to
// ask the model again. If a key occurs twice in an object, the last value counts. A whole number outside 64
// bits, or a number beyond a double's range, becomes a string of its digits, so that no digit is lost. U+0000
// and half of a surrogate pair become U+FFFD. If the tree is written out again, parse_stored_json can read
// it.
std::variant<boost::json::value, JsonProblem> parse_lenient_json(std::string_view text,
                                                                 std::size_t max_depth = kDefaultJsonDepth);

}  // namespace runnel
