#include "runnel/core/token_estimate.h"

#include <algorithm>
#include <cstddef>

#include "runnel/core/text.h"

namespace runnel {
namespace {

// In tenths of a token, by the length of a character in UTF-8: three bytes are nearly all East Asian.
constexpr std::int64_t tenths_of(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return 3;
    case 2:
      return 5;
    case 3:
      return 6;
    default:
      return 20;
  }
}

}  // namespace

std::int64_t estimate_token_tenths(std::string_view text) {
  std::int64_t tenths = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {  // Most of most texts.
      tenths += tenths_of(1);
      ++at;
      continue;
    }
    auto const length = std::max<std::size_t>(utf8_sequence(text, at), 1);
    tenths += tenths_of(length);
    at += length;
  }
  return tenths;
}

std::int64_t estimate_tokens(std::string_view text) {
  return (estimate_token_tenths(text) + 9) / 10;
}

}  // namespace runnel
