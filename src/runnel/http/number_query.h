#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "runnel/http/message.h"

namespace runnel::http {

// A whole number of the query within its limits; none: it is not there. What is wrong with it, as an answer.
std::variant<std::optional<std::int64_t>, Response> number_query(Request const& request, char const* name,
                                                                 std::int64_t lowest, std::int64_t highest);

}  // namespace runnel::http
