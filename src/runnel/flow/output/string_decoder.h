#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace runnel::flow {

// Decodes the text of a JSON string that is still being written, from after its opening quote to its closing
// quote. It gives only whole characters, however the bytes are cut, and nothing from the first place on that
// parse_lenient_json would refuse: invalid UTF-8, a control character, an invalid escape. Like
// parse_lenient_json, it turns half of a surrogate pair and U+0000 into U+FFFD.
class StringDecoder {
 public:
  // Appends the characters that this piece completes, and returns how many bytes it has read: all of them,
  // unless the string ends or breaks among them.
  std::size_t feed(std::string_view piece, std::string& out);

  [[nodiscard]] bool is_complete() const { return state_ == State::complete; }
  [[nodiscard]] bool is_broken() const { return state_ == State::broken; }

 private:
  enum class State { plain, character, escape, hex, low_half, complete, broken };

  [[nodiscard]] bool is_over() const { return is_complete() || is_broken(); }
  void take(char c, std::string& out);
  void take_plain(char c, std::string& out);
  void take_character(char c, std::string& out);
  void take_escape(char c, std::string& out);
  void take_hex(char c, std::string& out);
  void drop_half(std::string& out);
  void take_unit(std::string& out);

  State state_ = State::plain;
  std::string character_;   // The first bytes of an incomplete character.
  int digits_ = 0;          // How many digits of a \u escape have come.
  std::uint32_t unit_ = 0;  // The value of these digits.
  std::uint32_t high_ = 0;  // The first half of a surrogate pair; 0 if none is open.
};

}  // namespace runnel::flow
