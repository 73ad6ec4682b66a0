#include <boost/json/value.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "runnel/core/json/lenient.h"
#include "runnel/flow/clipped.h"
#include "runnel/flow/output/contract.h"
#include "runnel/flow/output/object_finder.h"
#include "runnel/flow/output/value_scanner.h"

namespace runnel::flow {
namespace {

namespace json = boost::json;

// How much of the output a problem shows around the wrong place.
constexpr std::size_t kBytesBefore = 24;
constexpr std::size_t kBytesAfter = 40;

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

// The problem's offset in bytes; its column counts characters.
std::size_t offset_of(JsonProblem const& problem, std::string_view text) {
  std::size_t at = 0;
  for (std::size_t line = 1; line < problem.line; ++line)
    at = text.find('\n', at) + 1;
  for (std::size_t column = 1; column < problem.column && at < text.size(); ++column) {
    ++at;
    while (at < text.size() && continues_character(text[at]))
      ++at;
  }
  return at;
}

// A few words around a place, on one line.
std::string excerpt(std::string_view text, std::size_t at) {
  auto begin = at - std::min(at, kBytesBefore);
  while (begin < at && continues_character(text[begin]))
    ++begin;
  auto out = clipped(text.substr(begin), at - begin + kBytesAfter);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

std::string syntax_problem(JsonProblem const& problem, std::string_view text, bool has_end) {
  auto const at = offset_of(problem, text);
  if (!has_end && at >= text.size())
    return "the JSON object is cut off: the output ends before the object's closing brace";
  return "the JSON object is broken at " + to_string(problem) + "; near: " + excerpt(text, at);
}

Reading read_object(Contract const& contract, std::string_view text) {
  ValueScanner scanner;
  text = text.substr(0, scanner.feed(text));
  Reading reading;
  reading.is_json = true;
  auto parsed = parse_lenient_json(text);
  if (auto const* problem = std::get_if<JsonProblem>(&parsed)) {
    reading.problems.push_back(syntax_problem(*problem, text, scanner.is_complete()));
    return reading;
  }
  auto& object = std::get<json::value>(parsed).get_object();
  reading.problems = contract.check(object);
  if (reading.problems.empty()) reading.value = std::move(object);
  return reading;
}

Reading without_object(std::string problem, bool is_json) {
  Reading reading;
  reading.problems.push_back(std::move(problem));
  reading.is_json = is_json;
  return reading;
}

}  // namespace

Reading read_output(Contract const& contract, std::string_view output) {
  ObjectFinder finder;
  finder.feed(output);
  finder.finish();
  switch (finder.state()) {
    case ObjectFinder::State::found:
      return read_object(contract, output.substr(finder.offset()));
    case ObjectFinder::State::list:
      return without_object("the output must be one JSON object, not a list", true);
    case ObjectFinder::State::searching:
      break;
  }
  return without_object("the output must be one JSON object, and it holds none", false);
}

}  // namespace runnel::flow
