#include "runnel/flow/output/string_decoder.h"

#include <utility>

#include "runnel/core/text/text.h"

namespace runnel::flow {
namespace {

constexpr std::size_t kLongestCharacter = 4;
constexpr std::string_view kReplacement = "\uFFFD";

bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
}

// How many bytes at the beginning are complete characters without a special meaning.
std::size_t plain_length(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_plain(text[at])) {
    auto const length = utf8_sequence(text, at);
    if (length == 0) break;
    at += length;
  }
  return at;
}

// The character that `\c` stands for; 0 if it is not an escape.
char unescaped(char c) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  auto const at = kNames.find(c);
  return at == std::string_view::npos ? '\0' : kMeanings[at];
}

// Negative if it is not a digit.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_high_half(std::uint32_t unit) {
  return unit >= 0xd800 && unit <= 0xdbff;
}

bool is_low_half(std::uint32_t unit) {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

void append_utf8(std::string& out, std::uint32_t point) {
  auto const put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  auto const tail = [&](unsigned shift) { put(0x80U | ((point >> shift) & 0x3fU)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xc0U | (point >> 6U));
  } else if (point < 0x10000) {
    put(0xe0U | (point >> 12U));
    tail(6);
  } else {
    put(0xf0U | (point >> 18U));
    tail(12);
    tail(6);
  }
  tail(0);
}

}  // namespace

std::size_t StringDecoder::feed(std::string_view piece, std::string& out) {
  std::size_t at = 0;
  while (at < piece.size() && !is_over()) {
    if (state_ == State::plain) {
      auto const length = plain_length(piece.substr(at));
      out.append(piece, at, length);
      at += length;
      if (at == piece.size()) break;
    }
    take(piece[at++], out);
  }
  return at;
}

void StringDecoder::take(char c, std::string& out) {
  switch (state_) {
    case State::plain:
      return take_plain(c, out);
    case State::character:
      return take_character(c, out);
    case State::escape:
      return take_escape(c, out);
    case State::hex:
      return take_hex(c, out);
    case State::low_half:
      if (c == '\\') {
        state_ = State::escape;
        return;
      }
      drop_half(out);
      state_ = State::plain;
      return take_plain(c, out);
    case State::complete:
    case State::broken:
      return;
  }
}

// Replaces the first half of a surrogate pair whose second half did not come.
void StringDecoder::drop_half(std::string& out) {
  if (std::exchange(high_, 0) != 0) out += kReplacement;
}

// Takes a byte that ends a run of plain characters or stands alone.
void StringDecoder::take_plain(char c, std::string& out) {
  if (c == '"') {
    state_ = State::complete;
  } else if (c == '\\') {
    state_ = State::escape;
  } else if (is_plain(c) && utf8_sequence({&c, 1}, 0) == 1) {
    out += c;
  } else if (is_plain(c)) {
    character_ = c;
    state_ = State::character;
  } else {
    state_ = State::broken;
  }
}

void StringDecoder::take_character(char c, std::string& out) {
  character_ += c;
  if (utf8_sequence(character_, 0) > 0) {
    out += character_;
    state_ = State::plain;
  } else if (character_.size() == kLongestCharacter) {
    state_ = State::broken;
  }
}

void StringDecoder::take_escape(char c, std::string& out) {
  auto const meaning = unescaped(c);
  if (c != 'u') drop_half(out);
  if (c == 'u') {
    digits_ = 0;
    unit_ = 0;
    state_ = State::hex;
  } else if (meaning != '\0') {
    out += meaning;
    state_ = State::plain;
  } else {
    state_ = State::broken;
  }
}

void StringDecoder::take_hex(char c, std::string& out) {
  auto const digit = hex_digit(c);
  if (digit < 0) {
    state_ = State::broken;
    return;
  }
  unit_ = unit_ * 16 + static_cast<std::uint32_t>(digit);
  if (++digits_ == 4) take_unit(out);
}

void StringDecoder::take_unit(std::string& out) {
  state_ = State::plain;
  if (high_ != 0 && is_low_half(unit_)) {
    auto const high = std::exchange(high_, 0);
    return append_utf8(out, 0x10000 + ((high - 0xd800) << 10U) + (unit_ - 0xdc00));
  }
  drop_half(out);
  if (is_high_half(unit_)) {
    high_ = unit_;
    state_ = State::low_half;
  } else if (unit_ == 0 || is_low_half(unit_)) {
    out += kReplacement;
  } else {
    append_utf8(out, unit_);
  }
}

}  // namespace runnel::flow
