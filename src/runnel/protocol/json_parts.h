#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/json_text.h"
#include "runnel/core/json_write.h"

// What more than one dialect writes.
namespace runnel::protocol {

inline constexpr std::string_view kCanceledMessage = "run canceled by user";
inline constexpr std::string_view kCanceledCode = "RUN_CANCELED";

inline void append_strings(std::string& out, std::vector<std::string> const& strings) {
  out += '[';
  for (auto const& string : strings) {
    if (&string != &strings.front()) out += ',';
    append_json_string(out, string);
  }
  out += ']';
}

inline void append_or_null(JsonObject& object, std::string_view key, std::optional<JsonText> const& value) {
  object.raw(key, value ? std::string_view{value->str()} : std::string_view{"null"});
}

}  // namespace runnel::protocol
