#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/json/text.h"
#include "runnel/core/json/write.h"

// The parts that more than one dialect writes.
namespace runnel::protocol {

inline constexpr std::string_view kCanceledMessage = "run canceled by user";
inline constexpr std::string_view kCanceledCode = "RUN_CANCELED";

inline void append_strings(std::string& out, std::vector<std::string> const& strings) {
  append_json_array(out, strings, append_json_string);
}

inline void append_or_null(JsonObject& object, std::string_view key, std::optional<JsonText> const& value) {
  object.raw(key, value ? std::string_view{value->str()} : std::string_view{"null"});
}

}  // namespace runnel::protocol
