#include "runnel/core/json/pointer.h"

namespace runnel {

std::string to_pointer_token(std::string_view name) {
  std::string out;
  for (char const c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string from_pointer_token(std::string_view token) {
  std::string out;
  for (; !token.empty(); token.remove_prefix(1)) {
    bool const escaped = token.starts_with("~0") || token.starts_with("~1");
    if (escaped) token.remove_prefix(1);
    out += !escaped ? token.front() : token.front() == '0' ? '~' : '/';
  }
  return out;
}

std::string to_told_token(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  if (name.size() <= kLongest) return to_pointer_token(name);
  auto end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U)
    --end;
  return to_pointer_token(name.substr(0, end)) + "…";
}

}  // namespace runnel
