#include "runnel/api/body_check.h"

#include <boost/json/value.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "runnel/api/problem.h"
#include "runnel/core/json/write.h"

namespace runnel::api {
namespace {

Response invalid_json(JsonProblem const& found) {
  std::string details;
  JsonObject object{details};
  object.number("line", static_cast<std::int64_t>(found.line));
  object.number("column", static_cast<std::int64_t>(found.column)).close();
  return problem(400, "INVALID_JSON", "The body is not acceptable JSON; " + to_string(found) + ".", details);
}

Response body_missing() {
  return problem(400, "INVALID_JSON",
                 "The body is empty; this address needs a JSON object, as GET /openapi.json describes it.",
                 R"({"line":1,"column":1})");
}

Response too_complex(std::size_t limit) {
  auto const number = std::to_string(limit);
  return problem(
      400, "JSON_TOO_COMPLEX",
      "The body has more than " + number +
          " JSON values and keys. In a run, earlier messages may be left out: the server has them.",
      R"({"limit":)" + number + "}");
}

std::string about_others(std::size_t count) {
  bool const all = count + 1 < base::kMostViolations;
  return std::string{count == 1 ? "There is " : "There are "} + (all ? "" : "at least ") +
         std::to_string(count) + (count == 1 ? " more fault" : " more faults") + ": see details.violations.";
}

// Keeps only the first violation found at each place.
void add_new(std::vector<base::Violation>& violations, std::vector<base::Violation> found) {
  for (auto& violation : found) {
    bool const told = std::any_of(violations.begin(), violations.end(),
                                  [&](auto const& other) { return other.path == violation.path; });
    if (!told && violations.size() < base::kMostViolations) violations.push_back(std::move(violation));
  }
}

}  // namespace

Response invalid_request(std::vector<base::Violation> const& violations) {
  std::string details;
  JsonObject object{details};
  append_json_array(object.key("violations"), violations,
                    [](std::string& out, base::Violation const& violation) {
                      JsonObject{out}.text("path", violation.path).text("problem", violation.what).close();
                    });
  object.close();

  auto message = "The body does not have the required form; " + to_string(violations.front()) + ".";
  if (violations.size() > 1) message += " " + about_others(violations.size() - 1);
  return problem(400, "INVALID_REQUEST", message, details);
}

bool stands_for_none(std::string_view body) {
  if (body.empty()) return true;
  auto const parsed = parse_json(body);
  auto const* value = std::get_if<boost::json::value>(&parsed);
  return value != nullptr && value->is_object() && value->get_object().empty();
}

std::optional<Response> take_body(Operation const& operation, JsonLimits limits, Request& request,
                                  ValueCheck const& values) {
  if (!operation.body) return std::nullopt;
  if (request.body.empty()) return body_missing();
  auto parsed = parse_json(request.body, limits);
  if (auto const* found = std::get_if<JsonProblem>(&parsed)) {
    return found->too_complex ? too_complex(limits.values) : invalid_json(*found);
  }
  auto& value = std::get<boost::json::value>(parsed);
  auto violations = operation.body->check(value);
  if (values) add_new(violations, values(request.body));
  if (!violations.empty()) return invalid_request(violations);
  request.parsed_body = std::make_shared<boost::json::value const>(std::move(value));
  return std::nullopt;
}

}  // namespace runnel::api
