#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "runnel/api/message.h"

namespace runnel::api {

// Reads a whole number from the query. Empty if the parameter is absent. If it is not a whole number within
// the limits, returns the answer that says so.
std::variant<std::optional<std::int64_t>, Response> number_query(Request const& request, char const* name,
                                                                 std::int64_t lowest, std::int64_t highest);

}  // namespace runnel::api
