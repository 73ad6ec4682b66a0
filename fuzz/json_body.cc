// A request's body: the parser, every schema of the OpenAPI document, the input of a run, and a profile.

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "fuzz/openapi.h"
#include "fuzz/target.h"
#include "runnel/api/body_check.h"
#include "runnel/core/ids.h"
#include "runnel/core/json/parse.h"
#include "runnel/core/json/text.h"
#include "runnel/core/profile.h"
#include "runnel/runtime/lifecycle/run_input.h"

namespace {

using namespace runnel;
namespace json = boost::json;

std::size_t depth_of(json::value const& value);

std::size_t deepest_in(auto const& container, auto const& value_of) {
  std::size_t deepest = 0;
  for (auto const& item : container)
    deepest = std::max(deepest, depth_of(value_of(item)));
  return deepest + 1;
}

// Also checks that no text has U+0000.
std::size_t depth_of(json::value const& value) {
  auto const has_nul = [](json::string_view text) { return text.find('\0') != json::string_view::npos; };
  if (auto const* text = value.if_string()) require(!has_nul(*text), "no U+0000");
  if (auto const* array = value.if_array()) return deepest_in(*array, [](auto const& item) { return item; });
  auto const* object = value.if_object();
  if (object == nullptr) return 0;
  for (auto const& session : *object)
    require(!has_nul(session.key()), "no U+0000 in a key");
  return deepest_in(*object, [](auto const& session) { return session.value(); });
}

// Boost 1.81 sometimes reads the last bit of a fraction wrong. Everything else must be equal.
bool same(json::value const& a, json::value const& b) {
  if (a.is_double() && b.is_double()) {
    return std::abs(a.get_double() - b.get_double()) <= 1e-14 * std::abs(a.get_double());
  }
  if (a.is_array() && b.is_array()) {
    return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), b.get_array().end(),
                      same);
  }
  if (a.is_object() && b.is_object()) {
    return std::equal(
        a.get_object().begin(), a.get_object().end(), b.get_object().begin(), b.get_object().end(),
        [](auto const& x, auto const& y) { return x.key() == y.key() && same(x.value(), y.value()); });
  }
  return a == b;
}

void check_parse(std::string_view text) {
  auto const parsed = parse_json(text);
  auto const* value = std::get_if<json::value>(&parsed);
  if (value == nullptr) return;
  require(depth_of(*value) <= kDefaultJsonDepth, "nothing is nested too deep");
  auto const again = json::serialize(*value);
  auto const reparsed = parse_json(again);
  require(std::holds_alternative<json::value>(reparsed) && same(std::get<json::value>(reparsed), *value),
          "a value is the same after serializing and parsing");
  require(JsonText::parse(text).has_value(), "JSON without traps is valid JsonText");
}

void check_run_input(json::value const& body) {
  auto const parsed = runtime::parse_run_input(body);
  auto const* input = std::get_if<runtime::RunInput>(&parsed);
  if (input == nullptr) return;
  require(!input->text.empty() && input->text.find('\0') == std::string::npos, "the message can be stored");
  require(!input->thread || is_usable_id(input->thread->text), "the thread id is usable");
  auto const stored = runtime::from_stored(runtime::to_stored(*input));
  require(stored.has_value() && stored->text == input->text, "a stored input is read back");
}

// Settings other than the preferences are not compared, because a fraction in them may change its last bit.
void check_profile(std::string_view text) {
  auto const stored = read_stored_profile(text);
  auto const& found = stored.profile.settings.preferences;
  require(is_language_tag(found.interface_language) && is_language_tag(found.ai_language) &&
              is_zone_name(found.timezone) && is_country_code(found.country),
          "whatever is stored, the preferences are valid");
  auto const sent = read_profile_strictly(text);
  if (!sent.problems.empty()) return;
  require(stored.problems.empty() && stored.profile == sent.profile,
          "a profile that is accepted can be read");
  auto const again = read_stored_profile(to_json(sent.profile));
  require(again.problems.empty() && again.profile.username == sent.profile.username &&
              again.profile.bio == sent.profile.bio && again.profile.settings.preferences == found,
          "a written profile is read back");
}

}  // namespace

RUNNEL_FUZZ_TARGET(json_body) {
  std::string_view const text{reinterpret_cast<char const*>(data), size};
  check_parse(text);
  check_profile(text);
  for (auto const& operation : openapi_contract()->operations()) {
    if (!operation.body) continue;
    api::Request request;
    request.operation = &operation;
    request.body = std::string{text};
    auto const refusal = api::take_body(operation, {}, request);
    require(!refusal || refusal->status == 400, "a bad body is a 400");
    if (!refusal && operation.path == "/api/v1/agent/runs") check_run_input(request.json());
  }
  return 0;
}
