#pragma once

#include <string_view>

namespace runnel::flow {

// The blanks that JSON allows between its tokens.
inline constexpr std::string_view kJsonBlanks = " \t\r\n";

inline bool is_json_blank(char c) {
  return kJsonBlanks.find(c) != std::string_view::npos;
}

}  // namespace runnel::flow
