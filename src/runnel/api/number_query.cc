#include "runnel/api/number_query.h"

#include <charconv>
#include <string>

#include "runnel/api/problem.h"

namespace runnel::api {

std::variant<std::optional<std::int64_t>, Response> number_query(Request const& request, char const* name,
                                                                 std::int64_t lowest, std::int64_t highest) {
  auto const text = request.query(name);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  auto const [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < lowest || value > highest) {
    return problem(400, "INVALID_REQUEST",
                   std::string{"'"} + name + "' must be a whole number from " + std::to_string(lowest) +
                       " to " + std::to_string(highest));
  }
  return value;
}

}  // namespace runnel::api
