#pragma once

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string_view>
#include <variant>

#include "runnel/core/json_parse.h"

namespace runnel {

// The document tree of a text that a model wrote. It is as parse_json's, but forgives what is no reason to
// ask a model again: of a key that occurs twice the last value counts; a number that fits neither 64 bits nor
// a double becomes the text of its digits, which loses none of them; U+0000 and half of a surrogate pair
// become U+FFFD. Written out again, the tree is a document that parse_stored_json reads.
std::variant<boost::json::value, JsonProblem> parse_lenient_json(std::string_view text,
                                                                 std::size_t max_depth = kDefaultJsonDepth);

}  // namespace runnel
