#include "runnel/core/json/write.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "runnel/core/text/text.h"

namespace runnel {
namespace {

// Bytes that stand for themselves in a JSON string. Bytes from 0x80 on are checked as UTF-8 sequences.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (unsigned byte = 0x20; byte < 0x80; ++byte)
    plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

// Whether eight bytes are all plain. Where a subtraction below borrows, or a byte is not ASCII, the highest
// bit of a byte is set.
bool are_plain(std::uint64_t bytes) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kHighest = kEach * 0x80;
  auto const quote = bytes ^ (kEach * '"');
  auto const backslash = bytes ^ (kEach * '\\');
  auto const found = (bytes - kEach * 0x20) | (quote - kEach) | (backslash - kEach) | bytes;
  return (found & kHighest) == 0;
}

std::size_t skip_plain(std::string_view text, std::size_t at) {
  for (std::uint64_t bytes = 0; at + sizeof bytes <= text.size(); at += sizeof bytes) {
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    if (!are_plain(bytes)) break;
  }
  while (at < text.size() && kPlain[static_cast<unsigned char>(text[at])])
    ++at;
  return at;
}

void append_escape(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  auto const byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[byte >> 4U];
  out += kHex[byte & 0xfU];
}

template <class Number>
void append_number(std::string& out, Number value) {
  char digits[20];
  auto const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t run = 0;  // The first byte that is not copied yet.
  std::size_t at = skip_plain(text, 0);
  while (at < text.size()) {
    auto const sequence = static_cast<unsigned char>(text[at]) < 0x80 ? 0 : utf8_sequence(text, at);
    if (sequence == 0) {
      out.append(text, run, at - run);
      if (static_cast<unsigned char>(text[at]) < 0x80) {
        append_escape(out, text[at]);
      } else {
        out += kReplacement;
      }
      run = at + 1;
    }
    at = skip_plain(text, at + (sequence == 0 ? 1 : sequence));
  }
  out.append(text, run);
  out += '"';
}

void append_json_number(std::string& out, std::int64_t value) {
  append_number(out, value);
}

void append_json_number(std::string& out, std::uint64_t value) {
  append_number(out, value);
}

}  // namespace runnel
