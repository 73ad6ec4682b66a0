#include "runnel/core/text/text.h"

#include <algorithm>
#include <cstring>

namespace runnel {
namespace {

constexpr std::size_t kTitleLength = 64;
constexpr std::string_view kEmptyTitle = "新会话";

char lower_ascii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

bool in(unsigned value, unsigned low, unsigned high) {
  return low <= value && value <= high;
}

// The code point of a valid sequence of `length` bytes.
char32_t decode(std::string_view text, std::size_t at, std::size_t length) {
  if (length == 1) return byte_at(text, at);
  char32_t point = byte_at(text, at) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i)
    point = (point << 6U) | (byte_at(text, at + i) & 0x3fU);
  return point;
}

// Line breaks as RUN-7 lists them.
bool is_line_break(char32_t c) {
  return in(c, 0x0a, 0x0d) || in(c, 0x1c, 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool is_space(char32_t c) {
  return is_line_break(c) || c == '\t' || c == ' ' || c == 0x1f || c == 0xa0 || c == 0x1680 ||
         in(c, 0x2000, 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000;
}

// The length of the sequence that begins at `at`, or 1 for a byte that belongs to no sequence.
std::size_t step(std::string_view text, std::size_t at) {
  return std::max<std::size_t>(utf8_sequence(text, at), 1);
}

// The place of the first character at or after `at` that is not white space, or the end if there is none.
std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(code_point_at(text, at)))
    at += step(text, at);
  return at;
}

// The place at or after `at` of the first eight bytes that are not all ASCII, or of the last few bytes.
std::size_t skip_ascii(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kHighest = 0x8080808080808080;
  for (std::uint64_t bytes = 0; at + sizeof bytes <= text.size(); at += sizeof bytes) {
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    if ((bytes & kHighest) != 0) break;
  }
  return at;
}

// The place where the last sequence begins, or the last byte if that belongs to no sequence.
std::size_t last_sequence(std::string_view text) {
  constexpr std::size_t kLongest = 4;
  for (std::size_t length = 1; length <= std::min(kLongest, text.size()); ++length) {
    auto const at = text.size() - length;
    if (utf8_sequence(text, at) == length) return at;
  }
  return text.size() - 1;
}

}  // namespace

std::size_t utf8_sequence(std::string_view text, std::size_t at) {
  auto const lead = byte_at(text, at);
  if (at >= text.size()) return 0;
  if (lead < 0x80) return 1;
  auto const tail = [&](std::size_t i) { return in(byte_at(text, at + i), 0x80, 0xbf); };
  auto const second = byte_at(text, at + 1);
  if (in(lead, 0xc2, 0xdf)) return tail(1) ? 2 : 0;
  if (in(lead, 0xe0, 0xef)) {
    bool const fits = in(second, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
    return fits && tail(2) ? 3 : 0;
  }
  if (in(lead, 0xf0, 0xf4)) {
    bool const fits = in(second, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
    return fits && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

char32_t code_point_at(std::string_view text, std::size_t at) {
  auto const length = utf8_sequence(text, at);
  return length == 0 ? U'\uFFFD' : decode(text, at, length);
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = skip_ascii(text, 0); at < text.size(); at = skip_ascii(text, at)) {
    auto const length = utf8_sequence(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    auto const length = utf8_sequence(text, at);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++at;
    } else {
      out.append(text, at, length);
      at += length;
    }
  }
  return out;
}

std::size_t count_code_points(std::string_view valid_utf8) {
  return static_cast<std::size_t>(
      std::count_if(valid_utf8.begin(), valid_utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

bool is_blank(std::string_view text) {
  return skip_space(text, 0) == text.size();
}

std::string_view strip(std::string_view text) {
  text.remove_prefix(skip_space(text, 0));
  while (!text.empty()) {
    auto const last = last_sequence(text);
    if (!is_space(code_point_at(text, last))) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

std::string_view first_code_points(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count)
    at += step(text, at);
  return text.substr(0, at);
}

std::string to_one_line(std::string_view text) {
  auto const valid = to_valid_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (std::size_t at = 0; at < valid.size();) {
    auto const length = valid.compare(at, 2, "\r\n") == 0 ? 2 : step(valid, at);
    if (is_line_break(code_point_at(valid, at))) {
      out += ' ';
    } else {
      out.append(valid, at, length);
    }
    at += length;
  }
  return out;
}

std::string title_from(std::string_view message) {
  auto const line = to_one_line(strip(message));
  auto const title = first_code_points(line, kTitleLength);
  return std::string{title.empty() ? kEmptyTitle : title};
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_ascii(x) == lower_ascii(y); });
}

}  // namespace runnel
