#pragma once

#include <boost/json/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "runnel/core/json/parse.h"

namespace runnel {

// What a parser's error means, in words for whoever wrote the JSON.
std::string words_for(boost::json::error_code const& error, std::size_t max_depth);

// `offset` is where in `text` reading stopped.
JsonProblem problem_at(std::string what, std::string_view text, std::size_t offset);

}  // namespace runnel
