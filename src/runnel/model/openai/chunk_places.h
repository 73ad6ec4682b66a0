#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runnel/model/openai/usage_fields.h"

// The parts of a chunk, with which ChunkReader finds its way through it.
namespace runnel::model {

// The objects and arrays of a chunk that have a meaning.
enum class Place : std::uint8_t {
  skipped,
  document,
  choices,
  choice,
  delta,
  tool_calls,
  tool_call,
  function,
  arguments,  // Arguments that are not a text.
  usage,
  metadata,
  usage_details,
  error,
  detail,
};

// Where to put the value of the key just read. A value without a place here is ignored.
struct Expected {
  std::string* text = nullptr;
  std::optional<std::int64_t>* number = nullptr;
  std::optional<std::string>* verbatim = nullptr;  // Takes a number as it was written.
  bool or_text = false;                            // `verbatim` also takes a text.
  bool or_other = false;          // `verbatim` takes any value but null: true, false, {} or [].
  Place inside = Place::skipped;  // What the value is if it is an object or an array.
};

inline Expected text_in(std::string& text) {
  Expected expected;
  expected.text = &text;
  return expected;
}
inline Expected number_in(std::optional<std::int64_t>& number) {
  Expected expected;
  expected.number = &number;
  return expected;
}
inline Expected verbatim_in(std::optional<std::string>& verbatim) {
  verbatim.reset();
  Expected expected;
  expected.verbatim = &verbatim;
  expected.or_text = true;
  return expected;
}
inline Expected digits_in(std::optional<std::string>& digits) {
  auto expected = verbatim_in(digits);
  expected.or_text = false;
  return expected;
}
inline Expected anything_in(std::optional<std::string>& value) {
  auto expected = verbatim_in(value);
  expected.or_other = true;
  return expected;
}
inline Expected object_at(Place inside) {
  Expected expected;
  expected.inside = inside;
  return expected;
}

// Where to put the value of a key of the usage object or its metadata, and of the details inside either.
Expected usage_member(UsageFields& fields, std::string_view key);
Expected usage_detail(UsageFields& fields, std::string_view key);

}  // namespace runnel::model
