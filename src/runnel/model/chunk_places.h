#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runnel/model/usage_fields.h"

// The map by which ChunkReader finds its way through a chunk.
namespace runnel::model {

// The objects and arrays of a chunk that mean something.
enum class Place : std::uint8_t {
  skipped,
  document,
  choices,
  choice,
  delta,
  tool_calls,
  tool_call,
  function,
  arguments,  // Arguments that are no text.
  usage,
  metadata,
  usage_details,
  error,
  detail,
};

// Where the value of the key just read belongs; what is not named here is passed over.
struct Expected {
  std::string* text = nullptr;
  std::optional<std::int64_t>* number = nullptr;
  std::optional<std::string>* verbatim = nullptr;  // A number as it was written,
  bool or_text = false;                            // or a text,
  bool or_other = false;                           // or what else is not null: it stays the word that it was.
  Place inside = Place::skipped;                   // An object's or array's.
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

// The value of a key of the usage object or of its metadata, and of the details inside either.
Expected usage_member(UsageFields& fields, std::string_view key);
Expected usage_detail(UsageFields& fields, std::string_view key);

}  // namespace runnel::model
