// Any bytes as the output of a model that is still writing. The first byte says how the rest is cut, and
// whether prose is allowed.

#include "runnel/flow/output/live_text.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "fuzz/target.h"
#include "runnel/core/json/lenient.h"
#include "runnel/core/text/text.h"
#include "runnel/flow/output/contract.h"

namespace {

namespace json = boost::json;
using namespace runnel;
using namespace runnel::flow;

Contract worker_contract() {
  auto schema = json::parse(R"({"type":"object","required":["answer","status"],"properties":{
    "status":{"enum":["SUCCESS","PARTIAL","FAILED"]},"answer":{"type":"string","maxLength":1000},
    "error":{"type":"string","nullable":true},"key_points":{"type":"array","items":{"type":"string"}}}})");
  return Contract::make("Worker", std::move(schema.get_object()), {{"status", "FAILED", "error"}}).value();
}

Contract const& contract() {
  static auto const kept = worker_contract();
  return kept;
}

struct Shown {
  std::string text;
  bool is_prose = false;
  bool operator==(Shown const&) const = default;
};

// What is shown of an output that comes in pieces of 1 to `largest` bytes.
Shown show(std::string_view output, std::size_t largest, bool prose) {
  bool let = false;
  auto const gate = [&](json::object const& fields) {
    require(!let, "a gate that is open is not asked again");
    let = fields.contains("status");
    return let;
  };
  LiveText live{"answer", gate, prose};
  Shown shown;
  for (std::size_t size = 1; !output.empty(); size = size % largest + 1) {
    auto const piece = live.feed(output.substr(0, size));
    require(is_utf8(piece), "no character is cut in two");
    shown.text += piece;
    output.remove_prefix(std::min(size, output.size()));
  }
  shown.text += live.finish();
  shown.is_prose = live.is_prose();
  require(shown.text.empty() || shown.is_prose || let, "nothing passes a gate that is closed");
  require(shown.text.find('\0') == std::string::npos, "the text that is shown can be stored");
  return shown;
}

// If a field comes twice, the first one is shown, and the last one counts.
bool may_come_twice(std::string_view output) {
  return output.find("answer") != output.rfind("answer") || output.find("\\u") != std::string_view::npos;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

void check_problems(Reading const& reading) {
  require(reading.problems.empty() || reading.value.empty(), "an invalid value is not used");
  require(reading.problems.size() <= base::kMostViolations, "problems are few");
  for (auto const& problem : reading.problems)
    require(is_utf8(problem) && problem.size() < 1024, "problems are short and valid text");
}

void check_shown(std::string_view output, Reading const& reading, Shown const& shown, bool prose) {
  if (shown.is_prose) {
    require(prose && output.starts_with(shown.text), "prose is shown unchanged");
    bool const storable = is_utf8(output) && output.find('\0') == std::string_view::npos;
    require(!storable || output == shown.text, "prose is shown to its end");
  } else if (reading.problems.empty() && !may_come_twice(output)) {
    require(shown.text == std::string_view{reading.value.at("answer").get_string()},
            "the whole answer is shown");
  }
  if (!reading.is_json)
    require(shown.is_prose == (prose && !is_blank(output)), "an output that is not JSON is prose");
}

// If the output is one object and nothing else, the expected result follows from it.
void check_bare(std::string_view output, Reading const& reading, std::size_t cut) {
  auto const parsed = parse_lenient_json(output);
  auto const* document = std::get_if<json::value>(&parsed);
  if (document == nullptr || !document->is_object()) return;
  auto const& object = document->get_object();
  require(reading.is_json && reading.problems == contract().check(object), "a bare object is found");
  require(!reading.problems.empty() || reading.value == object, "a bare object is the value");

  if (may_come_twice(output)) return;
  auto const* answer = object.if_contains("answer");
  auto const shown = show(output.substr(0, cut % (output.size() + 1)), 3, false).text;
  if (answer != nullptr && answer->is_string()) {
    require(std::string_view{answer->get_string()}.starts_with(shown),
            "the text that is shown is the beginning of the answer");
  } else {
    require(shown.empty(), "only the answer is shown");
  }
}

}  // namespace

RUNNEL_FUZZ_TARGET(live_text) {
  if (size == 0) return 0;
  bool const prose = (data[0] & 1U) != 0;
  std::size_t const largest = 1 + data[0] / 2;
  std::string_view const output{reinterpret_cast<char const*>(data + 1), size - 1};

  auto const reading = read_output(contract(), output);
  check_problems(reading);
  auto const shown = show(output, largest, prose);
  require(shown == show(output, 1, prose), "the result does not depend on the cuts");
  check_shown(output, reading, shown, prose);
  check_bare(output, reading, largest * 37);
  return 0;
}
