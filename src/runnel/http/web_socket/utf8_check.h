#pragma once

#include <cstdint>
#include <string_view>

namespace runnel::http {

// Whether a text that comes in pieces is UTF-8. A piece may end within a character.
class Utf8Check {
 public:
  // False if the text so far cannot be the beginning of any UTF-8; then it stays false.
  bool add(std::string_view piece) {
    for (char const c : piece) {
      if (!add(static_cast<std::uint8_t>(c))) return false;
    }
    return true;
  }

  // Whether the text so far ends with a whole character.
  [[nodiscard]] bool is_whole() const { return valid_ && left_ == 0; }

  void restart() { *this = {}; }

 private:
  bool add(std::uint8_t byte) {
    if (left_ > 0) {
      valid_ = valid_ && byte >= lowest_ && byte <= highest_;
      lowest_ = 0x80;
      highest_ = 0xBF;
      --left_;
    } else {
      begin(byte);
    }
    return valid_;
  }

  // The second byte of some characters has a narrower range: no character is written longer than needed, none
  // is a surrogate, and none is beyond U+10FFFF.
  void begin(std::uint8_t byte) {
    if (byte < 0x80) return;
    lowest_ = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;
    highest_ = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF;
    if (byte >= 0xC2 && byte <= 0xDF) {
      left_ = 1;
    } else if (byte >= 0xE0 && byte <= 0xEF) {
      left_ = 2;
    } else if (byte >= 0xF0 && byte <= 0xF4) {
      left_ = 3;
    } else {
      valid_ = false;
    }
  }

  std::uint8_t left_ = 0;  // Bytes that the character still needs.
  std::uint8_t lowest_ = 0x80;
  std::uint8_t highest_ = 0xBF;
  bool valid_ = true;
};

}  // namespace runnel::http
