#include "runnel/core/text/base64url.h"

#include <cstdint>

namespace runnel {
namespace {
constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
}  // namespace

std::string base64url_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (char const c : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6)
      out += kAlphabet[(bits >> (count - 6)) & 0x3fU];
  }
  if (count > 0) out += kAlphabet[(bits << (6 - count)) & 0x3fU];
  return out;
}

Result<std::string> base64url_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (char const c : text) {
    auto const value = kAlphabet.find(c);
    if (value == std::string_view::npos)
      return Error{Errc::invalid, "the text has a character that base64url does not use"};
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> count) & 0xffU);
    }
  }
  bool const stray_bits = (bits & ((1U << count) - 1U)) != 0;
  if (count >= 6 || stray_bits) return Error{Errc::invalid, "the base64url text has stray bits at its end"};
  return out;
}

}  // namespace runnel
