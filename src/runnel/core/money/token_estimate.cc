#include "runnel/core/money/token_estimate.h"

#include <algorithm>
#include <cstddef>

#include "runnel/core/text/text.h"

namespace runnel {
namespace {

// The tenths of a token for a character of this length in UTF-8. Nearly all characters of three bytes are
// East Asian.
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
    if (static_cast<unsigned char>(text[at]) < 0x80) {  // ASCII, the most common case.
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
